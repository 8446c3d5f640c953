# SPDX-License-Identifier: Apache-2.0
"""What the network tests have around a desktop: a web server, a name server, and a way to run commands in the desktop.

The web server listens on all of this host's addresses. The daemon's exception 127.0.0.1:PORT lets a desktop reach it at
10.0.2.2:PORT and nowhere else. Commands run in the desktop through its agent, which needs no network.
"""

import hashlib
import http.server
import json
import os
import pathlib
import random
import socket
import socketserver
import struct
import threading

def lan_address():
    """This host's own address on its network; no packet is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))
        return probe.getsockname()[0]


def file_bytes(number, size):
    return random.Random(number).randbytes(size)


def file_hash(number, size):
    return hashlib.sha256(file_bytes(number, size)).hexdigest()


class WebServer:
    def __init__(self):
        self.seen = []  # paths
        self.slow_ended = threading.Event()
        self.slow_began = threading.Event()
        lab = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def answer(self, body, kind="text/plain"):
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.send_header("Content-Type", kind)
                self.send_header("Connection", "close")
                self.end_headers()
                self.wfile.write(body)

            def do_GET(self):
                lab.seen.append(self.path)
                if self.path.startswith("/file/"):
                    number, size = map(int, self.path.split("/")[2:4])
                    return self.answer(file_bytes(number, size), "application/octet-stream")
                if self.path == "/slow":
                    return self.slow()
                return self.answer(b"<title>served</title>reached\n", "text/html")

            def slow(self):
                self.send_response(200)
                self.end_headers()
                lab.slow_ended.clear()
                lab.slow_began.set()
                try:
                    while True:
                        self.wfile.write(b"tick\n")
                        self.wfile.flush()
                        if lab.slow_ended.wait(0.1):
                            return
                except OSError:
                    lab.slow_ended.set()
                self.close_connection = True

        class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
            daemon_threads = True
            request_queue_size = 256

        self.server = Server(("0.0.0.0", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.slow_ended.set()
        self.server.shutdown()
        self.server.server_close()


class NameServer:
    """Answers for the names it was given; asks this host's own server for all others."""

    def __init__(self, names):
        self.names = names
        self.asked = []
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                message, peer = self.socket.recvfrom(4096)
            except OSError:
                return
            threading.Thread(target=self.answer, args=(message, peer), daemon=True).start()

    def answer(self, message, peer):
        labels, at = [], 12
        while message[at]:
            labels.append(message[at + 1:at + 1 + message[at]].decode(errors="replace").lower())
            at += 1 + message[at]
        name = ".".join(labels)
        self.asked.append(name)
        if name in self.names:
            addresses = self.names[name]
            reply = message[:2] + struct.pack("!HHHHH", 0x8180, 1, len(addresses), 0, 0) + message[12:at + 5]
            for address in addresses:
                reply += struct.pack("!HHHIH", 0xc00c, 1, 1, 30, 4) + socket.inet_aton(address)
        else:
            reply = self.forward(message)
        if reply:
            self.socket.sendto(reply, peer)

    @staticmethod
    def forward(message):
        for line in pathlib.Path("/etc/resolv.conf").read_text().splitlines():
            words = line.split()
            if len(words) > 1 and words[0] == "nameserver":
                with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as upstream:
                    upstream.settimeout(3)
                    try:
                        upstream.sendto(message, (words[1], 53))
                        return upstream.recv(4096)
                    except OSError:
                        continue
        return None

    def close(self):
        self.socket.close()


class Guest:
    """Runs commands in a desktop."""

    def __init__(self, api, name):
        self.api, self.name = api, name

    def run(self, command, seconds=120):
        """Returns (exit code, output)."""
        body = {"command": ["bash", "-c", f"({command}\n) 2>&1"], "timeout": seconds}
        done = self.api.call("POST", f"/v1/desktops/{self.name}/exec", body)
        return done["exit_code"], done["stdout"]

    def python(self, program, seconds=120):
        """Runs a program that prints one line of JSON, and returns what that says."""
        code, output = self.run(f"python3 - <<'PROGRAM'\n{program}\nPROGRAM", seconds)
        if code != 0:
            raise AssertionError(f"exit code {code}: {output}")
        return json.loads(output.strip().splitlines()[-1])


def netd_of(desktop):
    """The process id of a desktop's network process; None where there is none."""
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if words[0].endswith(b"dormouse-netd") and words[1].endswith(desktop["id"].encode()):
            return int(entry.name)
    return None


def processor_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
