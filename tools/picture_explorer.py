"""Take the picture of the explorer that the documents show: `make screenshot`, from a checkout.

It starts the service, opens the page in Chromium as the tests do, asks a question and looks.
"""

from pathlib import Path

from support.browsing import chromium
from support.serving import served

PICTURE = Path(__file__).parents[1] / "docs" / "explorer.png"


def main() -> None:
    with served("--workers", "2", "--time-limit", "100") as service, chromium() as browser:
        page = browser.new_context(
            viewport={"width": 1400, "height": 1000}, color_scheme="light", bypass_csp=True
        ).new_page()
        page.set_default_timeout(120_000)
        page.goto(service.address)
        page.select_option("#preset", "Everybody may train")
        page.wait_for_function("document.querySelectorAll('#timeline tbody tr').length > 8")
        page.fill("#find", "59")
        page.locator("#table").get_by_role("button", name="Ban 59", exact=True).click()
        page.fill("#find", "")
        page.click("#compare")
        page.fill("#why-client", "5")
        page.press("#why-client", "Enter")
        page.wait_for_selector("#why .lead")
        page.wait_for_function("!document.getElementById('compare').disabled")
        page.wait_for_selector(".spot")
        page.wait_for_function("!document.querySelector('.certificate.pending, .front.stale')")
        page.evaluate("scrollTo(0, 0)")
        page.screenshot(path=PICTURE)
    print(f"written to {PICTURE}")


if __name__ == "__main__":
    main()
