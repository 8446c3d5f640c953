# SPDX-License-Identifier: Apache-2.0
"""Several agents on one host: each sees and does what its token is for, hears what happens, and makes nothing twice."""

import contextlib
import http.client
import json
import subprocess
import threading
import time
import uuid

import harness


class EventStream:
    """GET /v1/events, read on a thread of its own; goes on where it was after reconnect()."""

    def __init__(self, api, token=None, after=None):
        self.api = api
        self.token = token or api.token
        self.after = after
        self.events = []
        self.ended = threading.Event()
        self.connect()

    def connect(self):
        headers = {"Authorization": f"Bearer {self.token}"}
        if self.events:
            self.after = self.events[-1]["id"]
        if self.after is not None:
            headers["Last-Event-ID"] = str(self.after)
        self.connection = http.client.HTTPConnection("127.0.0.1", self.api.port, timeout=120)
        self.connection.request("GET", "/v1/events", headers=headers)
        self.answer = self.connection.getresponse()
        if self.answer.status != 200:
            raise AssertionError(f"events: {self.answer.status} {self.answer.read()}")
        self.ended.clear()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        with contextlib.closing(self.connection), contextlib.suppress(OSError, http.client.HTTPException, ValueError):
            while line := self.answer.readline():
                if line.startswith(b"data: "):
                    self.events.append(json.loads(line[6:]))
        self.ended.set()

    def types(self, desktop=None):
        return [e["type"] for e in list(self.events) if desktop is None or e.get("desktop", {}).get("name") == desktop]

    def wait(self, what, condition):
        harness.wait_until(f"an event: {what}", lambda: any(condition(e) for e in list(self.events)))


class ManyAgents(harness.DesktopTest):
    def token(self, name, **limits):
        made = self.api.call("POST", "/v1/tokens", {"name": name, "scope": "agent", **limits})
        self.addCleanup(self.forget, made["id"])
        return made

    def forget(self, token):
        with contextlib.suppress(harness.ApiError):
            self.api.call("DELETE", f"/v1/tokens/{token}")

    def refused(self, status, method, path, body=None, token=None):
        with self.assertRaises(harness.ApiError) as caught:
            self.api.call(method, path, body, token=token or self.api.token)
        self.assertEqual(caught.exception.status, status, caught.exception)
        return caught.exception

    def test_two_teams_share_a_host_and_see_only_their_own(self):
        red = self.token("red", label="team=red")["secret"]
        blue = self.token("blue", label="team=blue")["secret"]
        events = EventStream(self.api, red)
        mine = self.api.call("POST", "/v1/desktops", {"name": "red-1", "labels": {"task": "search"}}, token=red)
        self.assertEqual(mine["labels"], {"task": "search", "team": "red"}, "the token's label was added")
        self.api.call("POST", "/v1/desktops", {"name": "blue-1"}, token=blue)
        seen = self.api.call("GET", "/v1/desktops", token=red)["desktops"]
        self.assertEqual([d["name"] for d in seen], ["red-1"])
        self.assertEqual(len(self.api.list()), 2)
        for method, path in (("GET", ""), ("DELETE", ""), ("POST", "/stop"), ("GET", "/screenshot")):
            self.refused(404, method, f"/v1/desktops/blue-1{path}", token=red)
        self.refused(403, "PATCH", "/v1/desktops/red-1", {"labels": {"team": None}}, token=red)
        self.assertEqual(self.api.raw("GET", "/v1/desktops/red-1/screenshot", token=red)[0], 200)

        self.api.call("PATCH", "/v1/desktops/red-1", {"name": "red-2", "labels": {"task": None, "done": "yes"}}, token=red)
        with self.subTest("filters and pages"):
            for query, expected in (("label=done", ["red-2"]), ("label=team=blue", ["blue-1"]), ("state=running", ["blue-1", "red-2"]),
                                    ("label=team=blue&state=stopped", [])):
                found = self.api.call("GET", f"/v1/desktops?{query.replace('=blue', '%3Dblue')}")["desktops"]
                self.assertEqual(sorted(d["name"] for d in found), expected, query)
            page = self.api.call("GET", "/v1/desktops?limit=1")
            rest = self.api.call("GET", f"/v1/desktops?limit=1&cursor={page['next_cursor']}")
            self.assertEqual([d["name"] for d in page["desktops"] + rest["desktops"]], ["red-2", "blue-1"])
            self.assertIsNone(rest["next_cursor"])
        with self.subTest("a viewer"):
            viewer = self.token("wall", scope="viewer", desktops=["red-2"])["secret"]
            self.assertEqual(self.api.raw("GET", "/v1/desktops/red-2/screenshot", token=viewer)[0], 200)
            self.refused(403, "POST", "/v1/desktops/red-2/actions", {"action": "screenshot"}, token=viewer)
            self.refused(404, "GET", "/v1/desktops/blue-1", token=viewer)
        self.api.call("DELETE", "/v1/desktops/red-2", token=red)
        self.api.delete("blue-1")
        events.wait("red-2 is gone", lambda e: e["type"] == "desktop.deleted")
        self.assertEqual({e["desktop"]["name"] for e in events.events if "desktop" in e}, {"red-1", "red-2"}, "nothing of the others")
        self.assertEqual(events.types("red-1")[0], "desktop.created")
        self.assertIn("desktop.state", events.types("red-1"))

    def test_a_create_whose_answer_was_lost_makes_no_second_desktop(self):
        key = str(uuid.uuid4())
        headers = {"Authorization": f"Bearer {self.api.token}", "Idempotency-Key": key}
        lost = http.client.HTTPConnection("127.0.0.1", self.api.port)
        lost.request("POST", "/v1/desktops", '{"name":"once"}', headers)
        harness.wait_until("it is being made", lambda: any(d["name"] == "once" for d in self.api.list()), pause=0.01)
        lost.close()
        status, answered, body = self.api.raw("POST", "/v1/desktops", '{"name":"once"}', {"Idempotency-Key": key})
        self.assertEqual(status, 201, body)
        self.assertEqual(answered.get("Idempotency-Replayed"), "true")
        desktop = json.loads(body)
        self.assertEqual([d["id"] for d in self.api.list()], [desktop["id"]])
        self.assertEqual(self.api.raw("POST", "/v1/desktops", '{"name":"other"}', {"Idempotency-Key": key})[0], 409)

        # Also across a daemon that is killed.
        self.daemon.kill()
        self.api = type(self).api = self.daemon.start()
        status, answered, again = self.api.raw("POST", "/v1/desktops", '{"name":"once"}', {"Idempotency-Key": key})
        self.assertEqual((status, answered.get("Idempotency-Replayed"), again), (201, "true", body))
        self.api.delete("once")

    def test_events_go_on_after_the_daemon_was_killed(self):
        events = EventStream(self.api)
        name = self.api.create("heard")["name"]
        events.wait("it runs", lambda e: e["type"] == "desktop.state" and e["desktop"]["state"] == "running")
        last = events.events[-1]["id"]
        self.daemon.kill()
        self.assertTrue(events.ended.wait(20))
        self.api = type(self).api = self.daemon.start()
        count = len(events.events)
        events.connect()
        events.wait("some may be missing", lambda e: e["type"] == "events.lost")
        self.api.call("PATCH", f"/v1/desktops/{name}", {"labels": {"after": "all"}})
        events.wait("the change", lambda e: e["id"] > last and e.get("desktop", {}).get("labels") == {"after": "all"})
        ids = [e["id"] for e in events.events[:count]] + [e["id"] for e in events.events[count:]]
        self.assertEqual(ids, sorted(ids), "ids grow from one daemon to the next")

        # While the daemon runs, nothing is lost by who was away.
        seen = events.events[-1]["id"]
        self.api.call("PATCH", f"/v1/desktops/{name}", {"labels": {"while": "away"}})
        late = EventStream(self.api, after=seen)
        late.wait("what happened meanwhile", lambda e: e.get("desktop", {}).get("labels", {}).get("while") == "away")
        self.assertNotIn("events.lost", late.types())
        self.api.delete(name)

    def test_a_token_taken_back_ends_its_stream(self):
        made = self.token("short")
        events = EventStream(self.api, made["secret"])
        self.api.call("DELETE", f"/v1/tokens/{made['id']}")
        self.assertTrue(events.ended.wait(20))
        self.refused(401, "GET", "/v1/desktops", token=made["secret"])

    def test_an_operation_is_watched_to_its_end_and_another_cancelled(self):
        events = EventStream(self.api)
        operation = self.api.call("POST", "/v1/desktops?async=true", {"name": "later"})["operation"]
        while operation["state"] == "running":
            operation = self.api.call("GET", f"/v1/operations/{operation['id']}?wait=30")
        self.assertEqual(operation["state"], "succeeded", operation)
        self.assertEqual(operation["result"]["desktop"]["name"], "later")
        events.wait("its end", lambda e: e.get("operation", {}).get("state") == "succeeded")
        self.api.delete("later")

        operation = self.api.call("POST", "/v1/desktops?async=true", {"name": "never"})["operation"]
        with contextlib.suppress(harness.ApiError):  # it may have been faster
            self.api.call("POST", f"/v1/operations/{operation['id']}/cancel")
            operation = self.api.call("GET", f"/v1/operations/{operation['id']}?wait=60")
            self.assertEqual(operation["state"], "cancelled", operation)
            self.refused(404, "GET", "/v1/desktops/never")
        with contextlib.suppress(harness.ApiError):
            self.api.delete("never")

    def test_the_audit_log_tells_who_did_what(self):
        agent = self.token("watched")
        name = self.api.call("POST", "/v1/desktops", {"name": "audited"}, token=agent["secret"])["name"]
        for _ in range(20):
            self.api.call("GET", f"/v1/desktops/{name}", token=agent["secret"])
        self.refused(403, "GET", "/v1/audit", token=agent["secret"])
        entries = self.api.call("GET", f"/v1/audit?token={agent['id']}")["entries"]
        looks = [e for e in entries if e["command"] == "desktop.get"]
        self.assertEqual([e["count"] for e in looks], [20], "polling is one entry")
        self.assertEqual([e["outcome"] for e in entries if e["command"] == "audit.list"], ["denied"])
        self.assertEqual([e["command"] for e in entries if e["command"] == "desktop.create"], ["desktop.create"])
        self.api.delete(name)

    def test_the_command_line_does_all_of_it(self):
        self.daemon.cli("create", "by-hand", "--label", "team=cli")
        self.assertEqual(self.daemon.cli("label", "by-hand", "done=yes", "team-").stdout, "done=yes\n")
        self.daemon.cli("rename", "by-hand", "renamed")
        self.assertEqual(self.daemon.cli("list", "--label", "done", "--names").stdout, "renamed\n")
        follower = subprocess.Popen([harness.BIN / "dormouse", "events", "--json", "--count", "1"], env=self.daemon.environment,
                                    stdout=subprocess.PIPE, text=True)
        first = json.loads(follower.stdout.readline())
        self.assertEqual(first["type"], "events.open")
        self.daemon.cli("label", "renamed", "seen=yes")
        event = json.loads(follower.communicate(timeout=60)[0].splitlines()[0])
        self.assertEqual((event["type"], event["desktop"]["labels"]), ("desktop.updated", {"done": "yes", "seen": "yes"}))
        secret = self.daemon.cli("token", "create", "cli", "--desktop", "renamed", "--commands", "look").stdout.strip()
        self.assertIn("renamed", self.daemon.cli("token", "list").stdout)
        self.refused(403, "DELETE", "/v1/desktops/renamed", token=secret)
        self.assertIn("desktop.update", self.daemon.cli("audit", "--desktop", "renamed").stdout)
        self.assertEqual(self.daemon.cli("operations", "show", "op-none", check=False).returncode, 3)
        self.assertIn("complete", self.daemon.cli("completion", "bash").stdout)
        self.daemon.cli("delete", "renamed")


class Limits(harness.DesktopTest):
    @classmethod
    def setUpClass(cls):
        cls.daemon = harness.Daemon()
        cls.addClassCleanup(cls.daemon.destroy)
        (cls.daemon.home / "config.toml").write_text("[limits]\nrequests_per_second = 5\nburst = 10\n")
        cls.api = cls.daemon.start()

    def test_a_token_that_asks_too_often_is_told_to_wait(self):
        answers = [self.api.raw("GET", "/v1/version") for _ in range(30)]
        refused = [(headers, json.loads(body)) for status, headers, body in answers if status == 429]
        self.assertGreater(len(refused), 5)
        self.assertEqual(refused[0][1]["error"]["code"], "rate_limited")
        time.sleep(int(refused[0][0]["Retry-After"]))
        self.assertEqual(self.api.raw("GET", "/v1/version")[0], 200)


if __name__ == "__main__":
    harness.main()
