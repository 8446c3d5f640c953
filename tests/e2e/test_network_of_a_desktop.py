# SPDX-License-Identifier: Apache-2.0
"""A desktop reaches the internet and nothing of its host. Names, refusals, downloads, and what becomes of them when the
network process hangs, dies, or is told to let nothing through; all against servers of the test's own, but for apt."""

import json
import os
import signal
import time
import unittest

import harness
import netlab

HOST = netlab.lan_address()
NAMES = {
    "served.test": ["10.0.2.2"],
    "gateway.test": ["10.0.2.2"],
    "loopback.test": ["127.0.0.1"],
    "metadata.test": ["169.254.169.254"],
    "host.test": [HOST],
    "several.test": ["127.0.0.1", "169.254.169.254", HOST],
}

# Tries to connect to each of TARGETS; says what came of it and how long that took.
CONNECT = """
import json, socket, time
results = {}
for host, port in TARGETS:
    began = time.monotonic()
    try:
        socket.create_connection((host, port), timeout=20).close()
        outcome = "connected"
    except socket.gaierror:
        outcome = "no such name"
    except ConnectionRefusedError:
        outcome = "refused"
    except OSError as error:
        outcome = repr(error)
    results[host] = [outcome, time.monotonic() - began]
print(json.dumps(results))
"""

FLOOD = """
import socket, threading
def udp():
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.setblocking(False)
    while True:
        try:
            s.sendto(b"x" * 1200, ("10.0.2.3", 53))
        except OSError:
            pass
for _ in range(2):
    threading.Thread(target=udp).start()
"""


class NetworkOfADesktop(harness.DesktopTest):
    @classmethod
    def setUpClass(cls):
        cls.web = netlab.WebServer()
        cls.addClassCleanup(cls.web.close)
        cls.names = netlab.NameServer(NAMES)
        cls.addClassCleanup(cls.names.close)
        os.environ["DORMOUSE_NETWORK_ALLOW"] = f"127.0.0.1:{cls.web.port}"
        os.environ["DORMOUSE_DNS_SERVER"] = f"127.0.0.1:{cls.names.port}"
        super().setUpClass()
        cls.desktop = cls.api.create("net")
        cls.guest = netlab.Guest(cls.api, "net")
        began = time.monotonic()
        cls.api.act("net", {"action": "key", "text": "ctrl+l"},
                    {"action": "type", "text": f"http://10.0.2.2:{cls.web.port}/after-wake\n"})
        harness.wait_until("the browser has loaded a page right after the wake", lambda: "/after-wake" in cls.web.seen)
        print(f"--- from the first key to the page, after a wake: {time.monotonic() - began:.1f} s")

    def set_mode(self, mode):
        began = time.monotonic()
        desktop = self.api.call("PATCH", "/v1/desktops/net", {"network": {"mode": mode}})
        self.assertEqual(desktop["network"]["mode"], mode)
        return time.monotonic() - began

    def destinations(self):
        return self.api.call("GET", "/v1/desktops/net/destinations")["destinations"]

    def rows_of(self, place):
        return [row for row in self.destinations() if place in (row["name"], row["address"])]

    def connects(self, targets, seconds=120):
        return self.guest.python(f"TARGETS = {targets!r}\n{CONNECT}", seconds)

    def wait_reached(self, seconds=60):
        """A connection through the network process works (again)."""
        return harness.wait_until("the network works",
                                  lambda: self.guest.run(f"curl -s --max-time 5 http://10.0.2.2:{self.web.port}/ping")[0] == 0,
                                  seconds)

    def test_1_what_is_of_the_host_is_refused_at_once(self):
        port = self.web.port  # listens on all addresses of the host
        targets = [("10.0.2.2", self.daemon.port), ("10.0.2.2", 22), ("127.0.0.1", port), ("169.254.169.254", 80),
                   (HOST, port), ("10.0.2.3", 53), ("192.168.1.1", 80), ("172.17.0.1", 80), ("100.64.0.1", 80),
                   ("0.0.0.0", port), ("224.0.0.1", 80), ("198.51.100.7", 25)]
        seen = len(self.web.seen)
        outcomes = self.connects(targets)
        print(f"--- addresses: {outcomes}")
        for host, (outcome, took) in outcomes.items():
            with self.subTest(host):
                self.assertNotEqual(outcome, "connected")
                self.assertLess(took, 3)
                if not host.startswith(("0.", "224.")):  # those the guest's own kernel refuses
                    self.assertEqual(outcome, "refused")
        names = [(name, port) for name in NAMES]
        outcomes = self.connects(names)
        print(f"--- names: {outcomes}")
        for host, (outcome, took) in outcomes.items():
            with self.subTest(host):
                self.assertEqual(outcome, "no such name")
                self.assertLess(took, 5)
        self.assertEqual(self.web.seen[seen:], [])
        row, = self.rows_of("169.254.169.254")
        self.assertEqual((row["verdict"], row["port"], row["protocol"]), ("refused", 80, "tcp"))
        self.assertIn("metadata", row["reason"])
        row, = self.rows_of("metadata.test")
        self.assertEqual((row["verdict"], row["protocol"], row["address"]), ("refused", "dns", None))

    def test_2_pings_and_other_protocols(self):
        code, _ = self.guest.run("ping -c 1 -W 5 10.0.2.2")
        self.assertEqual(code, 0)
        code, output = self.guest.run("ping -c 1 -W 5 198.51.100.7")
        self.assertIn("filtered", output.lower())
        self.assertNotEqual(code, 0)
        code, output = self.guest.run("dig +time=5 +tries=1 @10.0.2.3 loopback.test A; dig +time=5 +tries=1 @10.0.2.3 x.test TXT; "
                                      "dig +time=5 +tries=1 +tcp @10.0.2.3 x.test")
        self.assertIn("NXDOMAIN", output)
        self.assertIn("REFUSED", output)
        self.assertIn("connection refused", output)
        code, output = self.guest.run("cat /sys/class/net/eth0/address; ip -6 address show dev eth0; ip -4 address show dev eth0")
        self.assertNotIn("inet6", output)
        self.assertIn("10.0.2.15/24", output)

    def mirror(self):
        """The host name of the mirror that the desktop got from this host's apt configuration."""
        code, output = self.guest.run("grep -rhoE 'https?://[^/ ]+' /etc/apt/sources.list /etc/apt/sources.list.d | head -n 1")
        return output.strip().split("//")[1]

    def test_3_apt_and_curl_work(self):
        code, output = self.guest.run("sudo apt-get update 2>&1", 400)
        print("--- apt-get update: " + output.strip().splitlines()[-2])
        self.assertEqual(code, 0, output)
        self.assertNotIn("Err:", output)
        self.assertNotIn("Failed to fetch", output)
        began = time.monotonic()
        code, output = self.guest.run("cd /tmp && apt-get download hello 2>&1 && dpkg-deb -I hello_*.deb", 200)
        print(f"--- apt-get download hello: {time.monotonic() - began:.1f} s")
        self.assertEqual(code, 0, output)
        mirror = self.mirror()
        rows = [row for row in self.destinations() if row["name"] == mirror and row["protocol"] == "tcp"]
        self.assertEqual(len(rows), 1, rows)
        self.assertEqual(rows[0]["verdict"], "allowed")
        self.assertGreater(rows[0]["bytes_received"], 100_000)

    def test_4_fifty_downloads_at_once(self):
        sizes = {number: 300_000 + 20_011 * number for number in range(50)}
        urls = " ".join(f"{number}/{size}" for number, size in sizes.items())
        began = time.monotonic()
        code, output = self.guest.run(
            f"cd /tmp; for f in {urls}; do (curl -sf --max-time 200 http://10.0.2.2:{self.web.port}/file/$f | sha256sum "
            f"| sed \"s|-|${{f%/*}}|\") & done; wait", 300)
        took = time.monotonic() - began
        total = sum(sizes.values())
        print(f"--- 50 downloads at once: {total / 1e6:.1f} MB in {took:.1f} s, {total / took / 1e6:.2f} MB/s")
        self.assertEqual(code, 0, output)
        hashes = dict(reversed(line.split()) for line in output.strip().splitlines())
        self.assertEqual(len(hashes), 50)
        for number, size in sizes.items():
            self.assertEqual(hashes[str(number)], netlab.file_hash(number, size), number)

    def test_5_a_network_process_that_hangs_holds_nothing_up(self):
        pid = netlab.netd_of(self.desktop)
        before = netlab.processor_seconds(pid)
        self.guest.run(f"cat >/tmp/flood.py <<'END'\n{FLOOD}\nEND\n"
                       "setsid python3 /tmp/flood.py >/dev/null 2>&1 </dev/null &")
        harness.wait_until("the flood has come", lambda: netlab.processor_seconds(pid) > before + 0.2)
        os.kill(pid, signal.SIGSTOP)
        try:
            pictures, inputs = [], []
            for _ in range(15):
                began = time.monotonic()
                self.api.screenshot("net")
                pictures.append(time.monotonic() - began)
                began = time.monotonic()
                self.api.act("net", {"action": "mouse_move", "coordinate": [300, 300]})  # through QMP
                inputs.append(time.monotonic() - began)
                time.sleep(0.1)
        finally:
            os.kill(pid, signal.SIGCONT)
        print(f"--- while it hangs and the guest floods: screenshots median {sorted(pictures)[7] * 1000:.0f} ms, max "
              f"{max(pictures) * 1000:.0f} ms; input median {sorted(inputs)[7] * 1000:.0f} ms, max {max(inputs) * 1000:.0f} ms")
        self.assertLess(max(pictures), 10)
        self.assertLess(max(inputs), 10)
        self.guest.run("pkill -f flood.py")
        self.wait_reached()
        self.assertEqual(netlab.netd_of(self.desktop), pid)

    def test_6_a_killed_network_process_comes_back(self):
        pid = netlab.netd_of(self.desktop)
        began = time.monotonic()
        os.kill(pid, signal.SIGKILL)
        harness.wait_until("another one runs", lambda: netlab.netd_of(self.desktop) not in (None, pid), pause=0.01)
        back = time.monotonic() - began
        self.wait_reached()
        print(f"--- kill -9: another process after {back * 1000:.0f} ms, a command done after {time.monotonic() - began:.1f} s")
        outcomes = self.connects([("10.0.2.2", 22), ("169.254.169.254", 80)])
        self.assertEqual({outcome for outcome, _ in outcomes.values()}, {"refused"})

    def test_7_no_network_at_all(self):
        port = self.web.port
        download = f"curl -s http://10.0.2.2:{port}/slow >/tmp/slow; echo $? >/tmp/slow.code"
        self.guest.run(f"setsid bash -c '{download}' >/dev/null 2>&1 </dev/null &")
        harness.wait_until("a long download is under way", self.web.slow_began.is_set)
        took = self.set_mode("none")
        self.assertTrue(self.web.slow_ended.wait(10), "the download goes on")
        code, output = self.guest.run("sleep 1; cat /tmp/slow.code")
        self.assertIn(output.strip(), ("56", "52", "18"), "curl was cut off")
        print(f"--- open to none: answered after {took * 1000:.0f} ms, the download was cut off (curl: {output.strip()})")
        seen = len(self.web.seen)
        outcomes = self.connects([("10.0.2.2", port), ("198.51.100.7", 80), (self.mirror(), 80)])
        print(f"--- none: {outcomes}")
        self.assertEqual([outcome for outcome, _ in outcomes.values()], ["refused", "refused", "no such name"])
        self.assertLess(max(took for _, took in outcomes.values()), 5)
        self.assertEqual(self.web.seen[seen:], [])
        self.assertEqual(self.guest.run("ping -c 1 -W 5 10.0.2.2")[0], 0, "the gateway still answers")
        rows = [row for row in self.rows_of("10.0.2.2") if row["port"] == port]
        self.assertEqual(sorted(row["verdict"] for row in rows), ["allowed", "refused"])
        off, = [row for row in rows if row["verdict"] == "refused"]
        self.assertIn("switched off", off["reason"])
        self.set_mode("open")
        self.wait_reached()

    def test_8_it_outlives_the_daemon(self):
        pid = netlab.netd_of(self.desktop)
        later = (f"sleep 4; curl -s http://10.0.2.2:{self.web.port}/without-daemon; "
                 "curl -s --max-time 5 http://198.18.7.7/")
        self.guest.run(f"setsid bash -c '{later}' >/dev/null 2>&1 </dev/null &")
        self.daemon.kill()
        harness.wait_until("the network works without the daemon", lambda: "/without-daemon" in self.web.seen)
        type(self).api = self.guest.api = self.daemon.start()
        self.assertEqual(netlab.netd_of(self.desktop), pid)
        row, = harness.wait_until("what happened meanwhile is known", lambda: self.rows_of("198.18.7.7"))
        self.assertEqual((row["verdict"], row["connections"]), ("refused", 1))

    def test_9_one_row_for_each_destination_and_a_hanging_process_does_not_hold_up_a_stop(self):
        rows = self.destinations()
        keys = [(row["name"] or row["address"], row["port"], row["protocol"], row["verdict"]) for row in rows]
        self.assertEqual(len(keys), len(set(keys)))
        self.assertIn(("10.0.2.2", self.web.port, "tcp", "allowed"), keys)
        shown = self.daemon.cli("destinations", "net").stdout
        self.assertIn("169.254.169.254", shown)
        print("--- destinations\n" + shown)
        pid = netlab.netd_of(self.desktop)
        os.kill(pid, signal.SIGSTOP)
        began = time.monotonic()
        self.set_mode("none")  # the one that hangs is replaced
        print(f"--- open to none with a process that hangs: {time.monotonic() - began:.1f} s")
        self.assertNotIn(netlab.netd_of(self.desktop), (None, pid))
        os.kill(netlab.netd_of(self.desktop), signal.SIGSTOP)
        began = time.monotonic()
        self.api.call("POST", "/v1/desktops/net/stop")
        self.api.wait_state("net", "stopped", 180)
        print(f"--- stopped with a network process that hangs: {time.monotonic() - began:.1f} s")
        self.assertIsNone(netlab.netd_of(self.desktop))


class NetworkFromTheStart(harness.DesktopTest):
    def test_a_desktop_made_without_network_reaches_nothing(self):
        desktop = self.api.call("POST", "/v1/desktops", {"name": "shut", "network": {"mode": "none"}})
        self.assertEqual(desktop["network"], {"mode": "none"})
        self.api.act("shut", {"action": "key", "text": "ctrl+l"}, {"action": "type", "text": "http://198.51.100.7/\n"})

        def refused():
            rows = self.api.call("GET", "/v1/desktops/shut/destinations")["destinations"]
            return [row for row in rows if row["address"] == "198.51.100.7" and row["port"] == 80]

        row, = harness.wait_until("the browser was refused", refused)
        self.assertEqual(row["verdict"], "refused")
        everything = self.api.call("GET", "/v1/desktops/shut/destinations")["destinations"]
        self.assertEqual({row["verdict"] for row in everything}, {"refused"})
        self.assertEqual(json.loads(self.daemon.cli("network", "shut", "--json").stdout)["network"]["mode"], "none")
        self.daemon.cli("network", "shut", "open")
        self.assertEqual(self.api.get("shut")["network"], {"mode": "open"})


if __name__ == "__main__":
    unittest.main(verbosity=2)
