import { describe, expect, it } from "vitest";
import { dayName, relativeTime, timeInDay } from "./relative-time.ts";

// In the viewer's time zone, as in the console.
const now = new Date(2026, 10, 16, 9, 30).getTime();
const at = (day: number, hour: number, minute = 0, month = 10) =>
  new Date(2026, month, day, hour, minute).toISOString();

describe("a relative time", () => {
  it.each([
    [at(16, 9, 30), "just now"],
    [at(16, 9, 28), "2 minutes ago"],
    [at(15, 10, 0), "23 hours ago"],
    [at(15, 9, 0), "yesterday"],
    // Less than 48 hours, but two calendar days.
    [at(14, 10, 30), "2 days ago"],
    [at(9, 10, 30), "7 days ago"],
    [at(3, 9, 0), "1 week ago"],
    [at(12, 9, 0, 9), "1 month ago"],
    [at(16, 9, 31), "in 1 minute"],
    [at(17, 12, 0), "tomorrow"],
    [at(18, 8, 0), "in 2 days"],
  ])("%s is %s", (iso, words) => expect(relativeTime(iso, now)).toBe(words));

  it("names the day in a heading, with the year if it is not the current one", () => {
    expect(dayName(at(16, 0, 1), now)).toBe("Today, Monday, November 16");
    expect(dayName(at(15, 0, 1), now)).toBe("Yesterday, Sunday, November 15");
    expect(dayName(at(14, 23, 59), now)).toBe("Saturday, November 14");
    expect(dayName(new Date(2025, 11, 31).toISOString(), now)).toBe("December 31, 2025");
  });

  it("shows the time of day below a heading, and how long ago it was within an hour", () => {
    expect(timeInDay(at(16, 8, 31), now)).toBe("59 minutes ago");
    expect(timeInDay(at(16, 8, 30), now)).toMatch(/^8:30\sAM$/);
    // The space before AM differs between versions of the locale data.
    expect(timeInDay(at(15, 9, 45), now)).toMatch(/^9:45\sAM$/);
    expect(timeInDay(at(12, 14, 5, 9), now)).toMatch(/^2:05\sPM$/);
  });
});
