# SPDX-License-Identifier: Apache-2.0
"""Pictures of a real desktop in all forms: formats, regions, sizes, limits of bytes, the pointer."""

import json
import urllib.parse

import harness
from PIL import ImageChops

# A page of one colour: nothing on it moves, and the pointer stands out.
BLANK_PAGE = "data:text/html,<body style='background:rgb(240,200,160)'>"


class PicturesOfAnyForm(harness.DesktopTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.name = cls.api.create("pictures")["name"]

    def take(self, **options):
        """Returns (headers, bytes)."""
        status, headers, body = self.ask(**options)
        if status != 200:
            raise harness.ApiError(status, json.loads(body))
        return headers, body

    def ask(self, headers=None, **options):
        query = urllib.parse.urlencode(options)
        return self.api.raw("GET", f"/v1/desktops/{self.name}/screenshot?{query}", headers=headers)

    def of_one_moment(self, *wanted):
        """Pictures of the same screen: taken again while something moved in between."""
        def same():
            taken = [self.take(**options) for options in wanted]
            first, _ = self.take(**wanted[0])
            return taken if first["ETag"] == taken[0][0]["ETag"] else None

        return harness.wait_until("the screen stands still for some pictures", same)

    def assert_close(self, a, b, most):
        self.assertEqual(a.size, b.size)
        histogram = ImageChops.difference(a, b).histogram()
        total = sum(count * (value % 256) ** 2 for value, count in enumerate(histogram))
        distance = (total / (3 * a.size[0] * a.size[1])) ** 0.5
        self.assertLess(distance, most)

    def test_formats_show_the_same(self):
        (_, png), (jpeg_headers, jpeg), (webp_headers, webp) = self.of_one_moment(
            {}, {"format": "jpeg", "quality": 90}, {"format": "webp", "quality": 90})
        self.assertEqual(jpeg_headers["Content-Type"], "image/jpeg")
        self.assertEqual(webp_headers["Content-Type"], "image/webp")
        self.assertEqual(jpeg_headers["X-Dormouse-Quality"], "90")
        whole = harness.picture(png)
        self.assert_close(harness.picture(jpeg), whole, 10)
        self.assert_close(harness.picture(webp), whole, 10)

    def test_a_region_is_that_part_of_the_screen(self):
        (_, png), (headers, part) = self.of_one_moment({}, {"region": "100,50,301,203"})
        self.assertEqual(headers["X-Dormouse-Region"], "100,50,301,203")
        self.assertEqual((headers["X-Dormouse-Screen-Width"], headers["X-Dormouse-Screen-Height"]), ("1280", "800"))
        self.assertEqual((headers["X-Dormouse-Width"], headers["X-Dormouse-Height"]), ("301", "203"))
        expected = harness.picture(png).crop((100, 50, 401, 253))
        self.assertIsNone(ImageChops.difference(harness.picture(part), expected).getbbox())

    def test_smaller_pictures_are_averages(self):
        (_, png), (headers, half), (_, narrow) = self.of_one_moment({}, {"scale": 0.5}, {"max_width": 320})
        self.assertEqual((headers["X-Dormouse-Width"], headers["X-Dormouse-Height"]), ("640", "400"))
        self.assert_close(harness.picture(half), harness.picture(png).reduce(2), 1)
        self.assert_close(harness.picture(narrow), harness.picture(png).reduce(4), 1)

    def test_a_limit_of_bytes_holds(self):
        for form in ("png", "jpeg", "webp"):
            with self.subTest(format=form):
                headers, body = self.take(format=form, max_bytes=9000)
                self.assertLessEqual(len(body), 9000)
                size = harness.picture(body).size
                self.assertEqual(size, (int(headers["X-Dormouse-Width"]), int(headers["X-Dormouse-Height"])))

    def test_the_pointer_is_drawn_where_it_is_and_only_when_asked_for(self):
        self.api.act(self.name, {"action": "key", "text": "ctrl+l"}, {"action": "type", "text": BLANK_PAGE},
                     {"action": "key", "text": "Return"})
        harness.wait_until("the page has its colour", lambda: harness.picture(
            self.api.screenshot(self.name)).getpixel((640, 400)) == (240, 200, 160))
        for x, y in ((640, 400), (300, 600)):
            self.api.act(self.name, {"action": "mouse_move", "coordinate": [x, y]})

            def drawn():
                (_, without), (headers, with_pointer) = self.of_one_moment({}, {"cursor": "true"})
                self.assertEqual(headers["X-Dormouse-Cursor"], "drawn")
                box = ImageChops.difference(harness.picture(without), harness.picture(with_pointer)).getbbox()
                return box if box and box[0] - 4 <= x < box[2] and box[1] - 4 <= y < box[3] else None

            box = harness.wait_until(f"the pointer is at {x}, {y}", drawn)
            self.assertLessEqual(box[2] - box[0], 64)
            self.assertLessEqual(box[3] - box[1], 64)
        _, _, outside = (None, None, self.take(cursor="true", region="0,0,50,50")[0])
        self.assertEqual(outside["X-Dormouse-Cursor"], "outside")

    def test_an_unchanged_picture_is_not_sent_again(self):
        def unchanged():
            headers, _ = self.take(scale=0.5)
            status, again, body = self.ask(headers={"If-None-Match": headers["ETag"]}, scale=0.5)
            if status != 304:
                return False
            self.assertEqual((again["ETag"], body), (headers["ETag"], b""))
            # The same moment in another form is another picture.
            self.assertNotEqual(self.take(scale=0.25)[0]["ETag"], headers["ETag"])
            return True

        harness.wait_until("two pictures of one moment", unchanged)

    def test_mistakes_get_messages_that_say_what_to_do(self):
        for options, part in (({"formt": "png"}, "parameters: format, region, scale"),
                              ({"format": "gif"}, "png, jpeg, webp"),
                              ({"region": "0,0,1281,800"}, "1280x800"),
                              ({"region": "0,0,10"}, "x,y,width,height"),
                              ({"scale": "2"}, "0.05 to 1"),
                              ({"quality": "50"}, "format jpeg or webp"),
                              ({"format": "jpeg", "quality": "0"}, "1 to 100"),
                              ({"max_bytes": "10"}, "1000"),
                              ({"cursor": "yes"}, "true or false")):
            with self.subTest(options=options):
                status, _, body = self.ask(**options)
                error = json.loads(body)["error"]
                self.assertEqual((status, error["code"]), (400, "invalid_argument"))
                self.assertIn(part, error["message"] + " " + error["hint"])


if __name__ == "__main__":
    harness.main()
