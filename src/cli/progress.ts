import { Presets, SingleBar } from 'cli-progress';

/** How far a long command is; silent where the output is no terminal. */
export type Progress = Readonly<{ show: (done: bigint, end: bigint) => void; stop: () => void }>;

/** A bar on standard error when it is a terminal. */
export function openProgress(title: string, wanted: boolean): Progress {
  if (!wanted || !process.stderr.isTTY) return { show: () => undefined, stop: () => undefined };
  const bar = new SingleBar(
    { format: `${title} {bar} {percentage}% {value}/{total}`, stream: process.stderr },
    Presets.shades_classic,
  );
  let started = false;
  return {
    show: (done, end) => {
      if (!started) bar.start(Number(end), 0);
      started = true;
      bar.update(Number(done));
    },
    stop: () => bar.stop(),
  };
}
