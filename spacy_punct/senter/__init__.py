"""The component `stream_senter`."""
