/** Something with an id, and what tells it from others for people. */
type Candidate = Readonly<{ id: string; about: string }>;

const SHOWN_MAX = 10;

/** Whether an id begins with what was given; nothing is named by nothing. */
export function isNamedBy(id: string, beginning: string): boolean {
  return beginning !== '' && id.startsWith(beginning.toLowerCase());
}

/** Why what was given names none of them: several ids begin with it, of which the first ten are listed. `plural` is what they are. */
export function severalBegin(beginning: string, plural: string, candidates: readonly Candidate[]): string {
  const shown = candidates.slice(0, SHOWN_MAX).map(({ id, about }) => `${id} (${about})`);
  const more = candidates.length - shown.length;
  const list = [...shown, ...(more > 0 ? [`${more} more`] : [])].join(', ');
  return `${candidates.length} ${plural} begin with ${beginning}: ${list}; give more of the id.`;
}
