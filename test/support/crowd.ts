import type { Page } from "playwright-core";

/** Shows a page an organization with so many members, all of them made up; the default is more than the console lists. */
export async function showCrowd(page: Page, size = 2_000): Promise<void> {
  await page.route("**/api/v1/organization/members?**", (route) => {
    const query = new URL(route.request().url()).searchParams;
    const [offset, limit] = [Number(query.get("offset")), Number(query.get("limit"))];
    const data = Array.from({ length: limit }, (_, index) => ({
      id: `user_${String(offset + index).padStart(27, "0")}`,
      email: `member-${offset + index}@example.com`,
      first_name: null,
      last_name: null,
      role: "org:member",
    }));
    return route.fulfill({ json: { data, total_count: size } });
  });
}
