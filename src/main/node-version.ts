/** Of the majors that are older than the newest one: from which minor on each has what edgeward is built on. */
const SMALLEST_MINOR: Readonly<Record<number, number>> = { 20: 19, 22: 14 };
const FIRST_OF_ALL_LATER = 24;

/** What is wrong with a version of Node, such as `18.20.4`: one line; `undefined` where edgeward runs. The same as `engines` of package.json. */
export function nodeProblem(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major >= FIRST_OF_ALL_LATER || minor >= (SMALLEST_MINOR[major] ?? Number.POSITIVE_INFINITY)) return undefined;
  return `edgeward needs Node 20.19 or a later 20, 22.14 or a later 22, or 24 or later; this is ${version}`;
}
