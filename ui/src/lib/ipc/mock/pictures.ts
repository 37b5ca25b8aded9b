import type { ListItem } from "../backend";

const TONES: [string, string][] = [
  ["#5e4a35", "#b0945f"],
  ["#6f9486", "#a5bcb0"],
  ["#8fa9cf", "#d6cdbb"],
  ["#4d5a60", "#8b9894"],
  ["#a5836e", "#d2c1a4"],
];

/** Contents of the sample text files. */
const TEXTS: Record<string, string> = {
  "text/csv":
    "constituent,amplitude_m,phase_deg\n" +
    ["M2", "S2", "N2", "K2", "K1", "O1", "P1", "Q1", "M4", "MS4", "MN4", "Sa"]
      .map((name, at) => `${name},${(0.44 / (at + 1)).toFixed(3)},${(297 - at * 23.5).toFixed(1)}`)
      .join("\n"),
  "text/rust":
    "/// Height above chart datum in millimetres.\npub fn height(minutes: i64, constants: &[Constant]) -> i64 {\n    constants.iter().map(|each| each.at(minutes)).sum()\n}\n",
  "text/x-python": "E, b, h, L = 11_000, 48 * 2, 198, 3_400\nI = b * h**3 / 12\nprint(2_300 * L**3 / (48 * E * I))\n",
};

/** The bytes of a sample file: a text, or a generated picture. */
export async function sampleFile({ id, media_type }: ListItem): Promise<ArrayBuffer> {
  const text = TEXTS[media_type ?? ""];
  return text === undefined
    ? samplePicture(Number(id.replace(/\D/g, "")))
    : (new TextEncoder().encode(text).buffer as ArrayBuffer);
}

/** A small generated picture. */
async function samplePicture(seed: number): Promise<ArrayBuffer> {
  const canvas = document.createElement("canvas");
  canvas.width = 420;
  canvas.height = 260;
  const brush = canvas.getContext("2d");
  if (!brush) return new ArrayBuffer(0);
  const [from, to] = TONES[seed % TONES.length] ?? TONES[0]!;
  const paint = brush.createLinearGradient(0, 0, 420, 260);
  paint.addColorStop(0, from);
  paint.addColorStop(1, to);
  brush.fillStyle = paint;
  brush.fillRect(0, 0, 420, 260);
  const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done, "image/png"));
  return blob ? blob.arrayBuffer() : new ArrayBuffer(0);
}
