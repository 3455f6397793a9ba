import { idFromBytes } from "../../services/platform/domain/ids.ts";
import type { Pool, RowDataPacket } from "../../services/platform/mysql/pool.ts";
import type { LedgerSummary } from "./ledger.ts";
import type { SideName } from "./processes.ts";

export async function countPresets(preset: Pool): Promise<number> {
  return count(preset, "SELECT COUNT(*) AS n FROM presets");
}

/**
 * Compares what is stored with what was acknowledged, row by row, and returns every difference in words.
 * `filled` presets, with one version each, were there before the first request.
 */
export async function lookForLostRows(
  preset: Pool,
  side: SideName,
  ledger: LedgerSummary,
  filled: number,
): Promise<string[]> {
  const faults = [...ledger.faults];
  const expect = (what: string, actual: number, expected: number): void => {
    if (actual !== expected) faults.push(`${side}: ${what}: ${actual}, not ${expected}`);
  };
  const acknowledged = ledger.newPresets + ledger.shared.reduce((sum, { versions }) => sum + versions, 0);
  const stored = ledger.shared.length > 0 ? await findVersionCounts(preset) : new Map<string, VersionCount>();
  let sharedNew = 0;
  for (const { workspaceId, slug, versions } of ledger.shared) {
    const { latest = 0, isFilled = false } = stored.get(`${workspaceId}/${slug}`) ?? {};
    if (!isFilled) sharedNew += 1;
    expect(`versions of ${slug}`, latest, versions + (isFilled ? 1 : 0));
  }
  expect("presets", await countPresets(preset), filled + ledger.newPresets + sharedNew);
  const versions = await count(preset, "SELECT COUNT(*) AS n FROM preset_versions");
  expect("versions", versions, filled + acknowledged);
  expect("presets whose versions have a gap or a double", await countUneven(preset, "preset_versions", "version"), 0);
  expect("presets that do not serve their newest version", await count(preset, servesAnother), 0);
  if (side === "setpoint") {
    expect("changes", await count(preset, "SELECT COUNT(*) AS n FROM preset_changes"), filled + acknowledged);
    expect("presets whose changes have a gap", await countUneven(preset, "preset_changes", "revision"), 0);
    expect("workspaces whose count is wrong", await count(preset, wrongCount), 0);
  }
  return faults;
}

const servesAnother = `SELECT COUNT(*) AS n FROM presets p
  LEFT JOIN preset_versions v ON v.workspace_id = p.workspace_id AND v.preset_id = p.id AND v.version = p.latest_version
  WHERE v.id IS NULL OR v.id <> p.designated_version_id`;

const wrongCount = `SELECT COUNT(*) AS n
  FROM (SELECT workspace_id, COUNT(*) AS n FROM presets GROUP BY workspace_id) p
  LEFT JOIN (SELECT workspace_id, SUM(presets) AS n FROM preset_counts GROUP BY workspace_id) c
    ON c.workspace_id = p.workspace_id
  WHERE c.n IS NULL OR c.n <> p.n`;

/** Presets whose rows are not exactly 1, 2, 3 … up to the newest. No two rows share a number: it is in their key. */
function countUneven(preset: Pool, table: string, column: "version" | "revision"): Promise<number> {
  const newest = column === "version" ? "latest_version" : "revision";
  return count(
    preset,
    `SELECT COUNT(*) AS n FROM presets p
      LEFT JOIN (SELECT workspace_id, preset_id, COUNT(*) AS n, MIN(${column}) AS first, MAX(${column}) AS last
        FROM ${table} GROUP BY workspace_id, preset_id) r ON r.workspace_id = p.workspace_id AND r.preset_id = p.id
      WHERE r.n IS NULL OR r.first <> 1 OR r.last <> p.${newest} OR r.n <> p.${newest}`,
  );
}

interface VersionCount {
  readonly latest: number;
  readonly isFilled: boolean;
}

/** Of all presets with slugs that were used again and again. */
async function findVersionCounts(preset: Pool): Promise<Map<string, VersionCount>> {
  const [rows] = await preset.query<RowDataPacket[]>(
    "SELECT workspace_id, slug, latest_version FROM presets WHERE slug LIKE 'preset-%' OR slug LIKE 'hot-%'",
  );
  return new Map(
    rows.map(({ workspace_id, slug, latest_version }) => [
      `${idFromBytes(workspace_id)}/${slug}`,
      { latest: latest_version, isFilled: slug.startsWith("preset-") },
    ]),
  );
}

async function count(preset: Pool, sql: string): Promise<number> {
  const [rows] = await preset.query<RowDataPacket[]>(sql);
  return Number(rows[0]?.n);
}
