import { crc32, deflateSync, inflateSync } from "node:zlib";

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const colorsMax = 256;

/** The same picture with a palette, which is a third of its size: screens have few colours. */
export function smallPng(png: Buffer): Buffer {
  const { width, height, pixels } = readPng(png);
  const palette = choosePalette(pixels);
  const places = new Map(palette.map((color, place) => [color, place]));
  const placeOf = (color: number): number => {
    const known = places.get(color);
    if (known !== undefined) return known;
    const place = nearest(palette, color);
    places.set(color, place);
    return place;
  };
  // Each row begins with the number of its filter: none.
  const rows = Buffer.alloc(height * (width + 1));
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) rows[y * (width + 1) + x + 1] = placeOf(pixels[y * width + x] as number);
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // 8 bits a pixel, by a palette.
  header.set([8, 3], 8);
  const colors = Buffer.from(palette.flatMap((color) => [color >> 16, (color >> 8) & 255, color & 255]));
  const data = deflateSync(rows, { level: 9, memLevel: 9 });
  return Buffer.concat([
    signature,
    chunk("IHDR", header),
    chunk("PLTE", colors),
    chunk("IDAT", data),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const typed = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const framed = Buffer.alloc(typed.length + 8);
  framed.writeUInt32BE(data.length, 0);
  typed.copy(framed, 4);
  framed.writeUInt32BE(crc32(typed), typed.length + 4);
  return framed;
}

interface Picture {
  readonly width: number;
  readonly height: number;
  /** 0xRRGGBB each. */
  readonly pixels: Uint32Array;
}

/** A picture as browsers write it: 8 bits for each of three or four channels, not interlaced. */
function readPng(png: Buffer): Picture {
  const parts: Buffer[] = [];
  for (let at = signature.length; at < png.length; at += png.readUInt32BE(at) + 12) {
    if (png.toString("latin1", at + 4, at + 8) === "IDAT")
      parts.push(png.subarray(at + 8, at + 8 + png.readUInt32BE(at)));
  }
  const [width, height, channels] = [png.readUInt32BE(16), png.readUInt32BE(20), png[25] === 6 ? 4 : 3];
  const data = inflateSync(Buffer.concat(parts));
  const stride = width * channels;
  const pixels = new Uint32Array(width * height);
  let above = new Uint8Array(stride);
  for (let y = 0; y < height; y++) {
    const start = y * (stride + 1);
    const row = new Uint8Array(data.subarray(start + 1, start + 1 + stride));
    unfilter(data[start] as number, row, above, channels);
    for (let x = 0; x < width; x++) {
      const at = x * channels;
      pixels[y * width + x] = ((row[at] as number) << 16) | ((row[at + 1] as number) << 8) | (row[at + 2] as number);
    }
    above = row;
  }
  return { width, height, pixels };
}

/** Undoes what a row was written with, in place (PNG, section 9). */
function unfilter(filter: number, row: Uint8Array, above: Uint8Array, channels: number): void {
  for (let at = 0; at < row.length; at++) {
    const left = row[at - channels] ?? 0;
    const up = above[at] as number;
    const upLeft = above[at - channels] ?? 0;
    const guess = [0, left, up, (left + up) >> 1, paeth(left, up, upLeft)][filter] as number;
    row[at] = (row[at] as number) + guess;
  }
}

function paeth(left: number, up: number, upLeft: number): number {
  const estimate = left + up - upLeft;
  const [a, b, c] = [Math.abs(estimate - left), Math.abs(estimate - up), Math.abs(estimate - upLeft)];
  if (a <= b && a <= c) return left;
  return b <= c ? up : upLeft;
}

/** The colours that are there most often. */
function choosePalette(pixels: Uint32Array): number[] {
  const counts = new Map<number, number>();
  for (const color of pixels) counts.set(color, (counts.get(color) ?? 0) + 1);
  return [...counts]
    .sort(([, one], [, other]) => other - one)
    .slice(0, colorsMax)
    .map(([color]) => color);
}

function nearest(palette: readonly number[], color: number): number {
  const distance = (other: number): number =>
    [16, 8, 0].reduce((sum, shift) => sum + (((color >> shift) & 255) - ((other >> shift) & 255)) ** 2, 0);
  return palette.reduce(
    (best, other, place) => (distance(other) < distance(palette[best] as number) ? place : best),
    0,
  );
}
