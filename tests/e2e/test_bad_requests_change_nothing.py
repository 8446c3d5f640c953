# SPDX-License-Identifier: Apache-2.0
"""Whatever is wrong with a request: the right code, a message that helps, and nothing has changed."""

import json

import harness


class BadRequests(harness.DesktopTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.name = cls.api.create("target")["name"]

    def setUp(self):
        self.before = self.picture_of_state()

    def tearDown(self):
        self.assertEqual(self.picture_of_state(), self.before)

    def picture_of_state(self):
        return [(d["id"], d["name"], d["state"]) for d in self.api.list()], len(self.api.call("GET", "/v1/tokens")["tokens"])

    def refused(self, status, code, method, path, body=None, headers=None, token="own"):
        got, _, answer = self.api.raw(method, path, body, headers, token)
        parsed = json.loads(answer)
        self.assertEqual((got, parsed["error"]["code"]), (status, code), parsed)
        self.assertGreater(len(parsed["error"]["message"]), 5)
        return parsed["error"]

    def test_bodies_of_the_wrong_form(self):
        actions = f"/v1/desktops/{self.name}/actions"
        for body, hint in (
            ("{", "JSON"), ("[]", ""), ("null", ""), ('{"action":"fly"}', "fly"),
            ('{"action":"left_click","coordinate":[1]}', "coordinate"),
            ('{"action":"left_click","coordinate":["1","2"]}', "coordinate"),
            ('{"action":"left_click","coordinate":[1.5,2]}', "coordinate"),
            ('{"action":"left_click","coordinate":[1,2],"botton":1}', "botton"),
            ('{"actions":[]}', "actions"), ('{"actions":[{"action":"type"}]}', "text"),
            ('{"action":"scroll","scroll_direction":"sideways","scroll_amount":1}', "scroll_direction"),
            ('{"action":"scroll","scroll_direction":"down","scroll_amount":0}', "scroll_amount"),
            ('{"action":"wait","duration":-1}', "duration"), ('{"action":"wait","duration":1e9}', "duration"),
            ('{"action":"key","text":"hyper+nonsense"}', "hyper"),
            ('{"action":"left_click","coordinate":[1280,0]}', "0..1279"),
            ('{"action":"left_click","coordinate":[0,-1]}', "from 0"),
            ('{"action":"type","text":"\\ud800"}', ""),
            ("[" * 100_000, ""),
        ):
            with self.subTest(body=body[:60]):
                error = self.refused(400, "invalid_argument", "POST", actions, body)
                self.assertIn(hint, error["message"])

    def test_desktops_that_are_not_there(self):
        self.refused(404, "not_found", "GET", "/v1/desktops/nobody")
        self.refused(404, "not_found", "POST", "/v1/desktops/nobody/actions", '{"action":"screenshot"}')
        self.refused(404, "not_found", "DELETE", "/v1/desktops/nobody")
        self.refused(404, "not_found", "GET", "/v1/nothing")

    def test_names_with_tricks(self):
        for name in ("../etc", "..", "a/b", "A", "", "a" * 41, "a b", "d\u0000", "ä", "a\n"):
            with self.subTest(name=name):
                self.refused(400, "invalid_argument", "POST", "/v1/desktops", json.dumps({"name": name}))
        for path in ("/v1/desktops/..%2f..%2fetc", "/v1/desktops/%2e%2e", "/v1/desktops/%00", "/v1/desktops/a%2fb"):
            with self.subTest(path=path):
                status, _, _ = self.api.raw("GET", path)
                self.assertIn(status, (400, 404))
        self.refused(409, "conflict", "POST", "/v1/desktops", json.dumps({"name": self.name}))
        status, _, answer = self.api.raw("POST", "/v1/desktops", json.dumps({"template": "nowhere"}))
        self.assertEqual((status, json.loads(answer)["error"]["code"]), (404, "not_found"))

    def test_bodies_that_are_too_large(self):
        huge = json.dumps({"action": "type", "text": "x" * (8 << 20)})
        try:
            self.refused(413, "too_large", "POST", f"/v1/desktops/{self.name}/actions", huge)
        except (BrokenPipeError, ConnectionResetError):
            pass  # closed while we were still sending

    def test_without_a_token_or_with_a_weak_one(self):
        self.refused(401, "unauthenticated", "GET", "/v1/desktops", token=None)
        self.refused(401, "unauthenticated", "GET", "/v1/desktops", token="dm_wrong")
        agent = self.api.call("POST", "/v1/tokens", {"name": "an agent", "scope": "agent"})
        try:
            self.assertEqual(len(self.api.call("GET", "/v1/desktops", token=agent["secret"])["desktops"]), 1)
            self.refused(403, "denied", "GET", "/v1/tokens", token=agent["secret"])
            self.refused(403, "denied", "POST", "/v1/tokens", '{"name":"x","scope":"admin"}', token=agent["secret"])
        finally:
            self.api.call("DELETE", f"/v1/tokens/{agent['id']}")
        self.refused(401, "unauthenticated", "GET", "/v1/desktops", token=agent["secret"])
        admins = [t for t in self.api.call("GET", "/v1/tokens")["tokens"] if t["scope"] == "admin"]
        self.assertEqual(len(admins), 1)
        self.refused(409, "conflict", "DELETE", f"/v1/tokens/{admins[0]['id']}")

    def test_other_methods_and_other_sites(self):
        self.refused(405, "invalid_argument", "PUT", "/v1/desktops")
        self.refused(403, "denied", "POST", "/v1/desktops", "{}", {"Origin": "http://evil.example"})


if __name__ == "__main__":
    harness.main()
