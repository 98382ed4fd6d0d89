"""Chromium without a window, driven by the DevTools protocol over a pipe."""

import base64
import json
import os
import shutil
import subprocess
from pathlib import Path
from select import select
from time import monotonic, sleep
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
_FLAGS = [
    "--headless=new",
    "--remote-debugging-pipe",
    "--no-sandbox",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--mute-audio",
    "--hide-scrollbars",
]
_KEYS = {
    "Delete": 46,
    "Enter": 13,
    "Escape": 27,
    "ArrowRight": 39,
    "ArrowLeft": 37,
    "Tab": 9,
}


class Browser:
    """A browser with one page.

    folder (Path): Where it may keep its things.
    seconds (float): How long to wait for anything.
    """

    def __init__(self, folder: Path, seconds: float = 60) -> None:
        self._seconds = seconds
        self.errors: list[str] = []
        """What scripts threw, and what the console or the policy complained of."""
        child_in, self._out = os.pipe()
        self._in, child_out = os.pipe()

        def connect() -> None:
            # The protocol wants these two, and neither may be in the other's place.
            first, second = os.dup(child_in), os.dup(child_out)
            os.dup2(first, 3)
            os.dup2(second, 4)

        self._process = subprocess.Popen(
            [CHROMIUM, *_FLAGS, f"--user-data-dir={folder}", "about:blank"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            preexec_fn=connect,
            close_fds=False,
        )
        os.close(child_in)
        os.close(child_out)
        self._buffer = b""
        self._number = 0
        self._session: str | None = None
        pages = self._wait_for_page()
        attached = self.call(
            "Target.attachToTarget", targetId=pages[0]["targetId"], flatten=True
        )
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setFocusEmulationEnabled", enabled=True)

    def _wait_for_page(self) -> list[dict[str, Any]]:
        deadline = monotonic() + self._seconds
        while True:
            found = self.call("Target.getTargets")["targetInfos"]
            pages = [target for target in found if target["type"] == "page"]
            if pages or monotonic() > deadline:
                return pages
            sleep(0.05)

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Call a method of the protocol."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return answer["result"]
            self._note(answer)

    def _note(self, event: dict[str, Any]) -> None:
        params = event.get("params", {})
        if event.get("method") == "Runtime.exceptionThrown":
            self.errors.append(str(params["exceptionDetails"]))
        is_entry = event.get("method") == "Log.entryAdded"
        if is_entry and params["entry"]["level"] == "error":
            self.errors.append(params["entry"]["text"])

    def _read(self) -> dict[str, Any]:
        deadline = monotonic() + self._seconds
        while b"\0" not in self._buffer:
            ready, _, _ = select([self._in], [], [], max(deadline - monotonic(), 0))
            assert ready, "the browser does not answer"
            received = os.read(self._in, 1 << 20)
            assert received, "the browser ended"
            self._buffer += received
        message, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(message)

    # What people do

    def open(self, url: str) -> None:
        self.errors.clear()
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=url)
        self.wait("document.readyState === 'complete'")

    def resize(self, width: int, height: int = 800, *, touch: bool = False) -> None:
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=touch,
        )
        self.call("Emulation.setTouchEmulationEnabled", enabled=touch)

    def dark(self, is_dark: bool) -> None:
        scheme = {
            "name": "prefers-color-scheme",
            "value": "dark" if is_dark else "light",
        }
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def run(self, expression: str) -> Any:
        """The value of an expression in the page."""
        found = self.call(
            "Runtime.evaluate",
            expression=expression,
            returnByValue=True,
            awaitPromise=True,
        )
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def wait(self, expression: str) -> None:
        """Wait until an expression is true."""
        deadline = monotonic() + self._seconds
        while not self.run(f"Boolean({expression})"):
            assert monotonic() < deadline, f"never true: {expression} {self.errors}"
            sleep(0.02)

    def text(self, selector: str) -> str:
        return self.run(f"document.querySelector({json.dumps(selector)})?.innerText")

    def type(self, text: str) -> None:
        """Type into what has the focus."""
        self.call("Input.insertText", text=text)

    def press(self, key: str, *, alt: bool = False) -> None:
        for kind in ("keyDown", "keyUp"):
            self.call(
                "Input.dispatchKeyEvent",
                type=kind,
                key=key,
                code=key,
                windowsVirtualKeyCode=_KEYS[key],
                modifiers=int(alt),
                **({"text": "\r"} if (kind, key) == ("keyDown", "Enter") else {}),
            )

    def middle(self, expression: str) -> tuple[float, float]:
        """Where an element is, scrolled into view."""
        return tuple(
            self.run(
                f"(() => {{ const e = {expression};"
                "e.scrollIntoView({block: 'center'});"
                "const b = e.getClientRects()[0];"
                "return [b.x + b.width / 2, b.y + b.height / 2]; })()"
            )
        )

    def hover(self, expression: str) -> None:
        self._mouse("mouseMoved", *self.middle(expression))

    def click(self, expression: str) -> None:
        x, y = self.middle(expression)
        self._mouse("mouseMoved", x, y)
        self._mouse("mousePressed", x, y)
        self._mouse("mouseReleased", x, y)

    def tap(self, expression: str) -> None:
        x, y = self.middle(expression)
        self.call(
            "Input.dispatchTouchEvent", type="touchStart", touchPoints=[_at(x, y)]
        )
        self.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        self._mouse("mouseMoved", *start)
        self._mouse("mousePressed", *start)
        for share in (0.3, 0.6, 1.0):
            x, y = (a + share * (b - a) for a, b in zip(start, end, strict=True))
            self._mouse("mouseMoved", x, y, buttons=1)
        self._mouse("mouseReleased", *end)

    def drop(self, file: Path, expression: str) -> None:
        """Drop a file on an element."""
        x, y = self.middle(expression)
        data = {"items": [], "files": [str(file)], "dragOperationsMask": 1}
        for kind in ("dragEnter", "dragOver", "drop"):
            self.call("Input.dispatchDragEvent", type=kind, x=x, y=y, data=data)

    def downloads_to(self, folder: Path) -> None:
        self.call(
            "Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder)
        )

    def _mouse(self, kind: str, x: float, y: float, buttons: int = 0) -> None:
        is_click = kind in ("mousePressed", "mouseReleased")
        self.call(
            "Input.dispatchMouseEvent",
            type=kind,
            x=x,
            y=y,
            button="left" if is_click or buttons else "none",
            buttons=buttons,
            clickCount=int(is_click),
        )

    def screenshot(self) -> bytes:
        return base64.b64decode(self.call("Page.captureScreenshot")["data"])

    def close(self) -> None:
        self._session = None
        try:
            self.call("Browser.close")
            self._process.wait(self._seconds)
        except (AssertionError, OSError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        os.close(self._in)
        os.close(self._out)


def _at(x: float, y: float) -> dict[str, float]:
    return {"x": x, "y": y}
