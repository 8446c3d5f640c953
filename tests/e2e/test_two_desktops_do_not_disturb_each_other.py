# SPDX-License-Identifier: Apache-2.0
"""Two desktops from one template: what happens in one is not seen in the other."""

import threading

import harness


class TwoDesktops(harness.DesktopTest):
    def test_each_gets_what_was_meant_for_it(self):
        names = [self.api.create(name)["name"] for name in ("left", "right")]
        for name in names:
            self.open_page(name)
            self.api.act(name, {"action": "left_click", "coordinate": self.field(name)})
            self.wait_page(name, "the field has the focus", lambda log: log["focus"] == "name")
        texts = {"left": "only the left one 123", "right": "ONLY THE RIGHT ONE ÄÖ"}
        errors = []

        def type_into(name):
            try:
                self.api.act(name, {"action": "type", "text": texts[name]})
            except Exception as error:  # told to the test below
                errors.append(error)

        threads = [threading.Thread(target=type_into, args=(name,)) for name in names]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(errors, [])
        for name in names:
            self.wait_page(name, "its own text", lambda log, wanted=texts[name]: log["values"]["name"] == wanted)

        # The end of one is nothing to the other.
        self.api.delete("left")
        self.api.act("right", {"action": "type", "text": "!"})
        self.wait_page("right", "it goes on", lambda log: log["values"]["name"] == texts["right"] + "!")

    def field(self, name):
        log = self.page(name)
        return [log["inner"]["sx"] + 200, log["inner"]["sy"] + 101]


if __name__ == "__main__":
    harness.main()
