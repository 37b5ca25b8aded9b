const TONES: [string, string][] = [
  ["#5e4a35", "#b0945f"],
  ["#6f9486", "#a5bcb0"],
  ["#8fa9cf", "#d6cdbb"],
  ["#4d5a60", "#8b9894"],
  ["#a5836e", "#d2c1a4"],
];

/** A small made-up picture. */
export async function samplePicture(seed: number): Promise<number[]> {
  const canvas = document.createElement("canvas");
  canvas.width = 420;
  canvas.height = 260;
  const brush = canvas.getContext("2d");
  if (!brush) return [];
  const [from, to] = TONES[seed % TONES.length] ?? TONES[0]!;
  const paint = brush.createLinearGradient(0, 0, 420, 260);
  paint.addColorStop(0, from);
  paint.addColorStop(1, to);
  brush.fillStyle = paint;
  brush.fillRect(0, 0, 420, 260);
  const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done, "image/png"));
  return blob ? [...new Uint8Array(await blob.arrayBuffer())] : [];
}
