"""A page on which to try a pipeline in the browser, and the JSON API behind it.

`app.make_app` is the ASGI application, which any ASGI server can run, and `server` runs
it with uvicorn. Both need the extra `serve`, so nothing is imported here.
"""
