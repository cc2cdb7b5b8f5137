# SPDX-License-Identifier: BSD-2-Clause
"""A headless Chromium that is told what to do through a pipe: the DevTools protocol, as JSON that ends with NUL.

It resolves no name.  Windows are as narrow as a phone's, which --window-size alone does not give.
"""
import base64
import json
import os
import select
import shutil
import subprocess
import sys

from command import skip

TIMEOUT = 240  # seconds without a word from the browser


class Chromium:
    def __init__(self, scratch):
        binary = shutil.which("chromium") or skip("chromium is not installed")
        to_us, from_it = os.pipe()
        to_it, from_us = os.pipe()
        self.buffer, self.number, self.session = b"", 0, None
        self.read_end, self.write_end = to_us, from_us
        self.console, self.loaded = [], False
        with open(f"{scratch}/chromium.err", "wb") as errors:
            self.process = subprocess.Popen(
                ["bash", "-c", f'exec "$@" 3<&{to_it} 4>&{from_it}', "bash", binary, "--headless",
                 "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage",
                 "--no-first-run", "--disable-extensions", f"--user-data-dir={scratch}/profile",
                 "--host-resolver-rules=MAP * ~NOTFOUND", "--remote-debugging-pipe", "about:blank"],
                pass_fds=(to_it, from_it), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=errors)
        os.close(to_it)
        os.close(from_it)
        target = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"],
                                 flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def close(self):
        self.call("Browser.close")
        self.process.wait(60)
        os.close(self.read_end)
        os.close(self.write_end)

    def call(self, method, **parameters):
        """The result of a call; what is told meanwhile is kept."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.write_end, data):]
        while True:
            answer = self.receive()
            if answer.get("id") != self.number:
                self.event(answer)
            elif "error" in answer:
                sys.exit(f"chromium: {method}: {answer['error']}")
            else:
                return answer["result"]

    def receive(self):
        while b"\0" not in self.buffer:
            if not select.select([self.read_end], [], [], TIMEOUT)[0]:
                sys.exit("chromium says nothing")
            data = os.read(self.read_end, 1 << 16)
            if not data:
                sys.exit("chromium has ended")
            self.buffer += data
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def event(self, message):
        method, what = message.get("method"), message.get("params", {})
        if method == "Page.loadEventFired":
            self.loaded = True
        elif method == "Runtime.exceptionThrown":
            details = what["exceptionDetails"]
            self.console.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Runtime.consoleAPICalled":
            self.console.append(str(what["args"]))
        elif method == "Log.entryAdded":
            self.console.append(what["entry"]["text"])
        elif method == "Network.loadingFailed":
            self.console.append(what["errorText"])

    def open(self, path, width, height=1000, dark=False, media="screen", still=False):
        """Loads the page.  The lines of its console.  still: for a reader who wants no motion."""
        self.look(width, height, dark, media, still)
        self.console, self.loaded = [], False
        self.call("Page.navigate", url="file://" + path)
        while not self.loaded:
            self.event(self.receive())
        self.run("1")  # what was told until then
        return self.console

    def look(self, width, height, dark, media, still):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=width < 640)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        motion = {"name": "prefers-reduced-motion", "value": "reduce" if still else "no-preference"}
        self.call("Emulation.setEmulatedMedia", media=media, features=[scheme, motion])

    def run(self, script):
        """The value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            sys.exit(f"chromium: {details['text']}: {details.get('exception', {}).get('description')}")
        return answer["result"].get("value")

    def press(self, key, code, text=""):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key,
                      windowsVirtualKeyCode=code, **({"text": text} if kind == "keyDown" else {}))

    def picture(self, png, whole=True):
        data = base64.b64decode(self.call("Page.captureScreenshot", captureBeyondViewport=whole)["data"])
        with open(png, "wb") as file:
            file.write(data)
        return data
