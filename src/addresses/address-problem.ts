/** What is wrong with an address text: a sentence that names what would be right. A value, never thrown. */
export type AddressProblem = Readonly<{ problem: string }>;

/** Tells a problem from what was asked for. */
export function isAddressProblem(outcome: object): outcome is AddressProblem {
  return 'problem' in outcome;
}

/** Quotes what a client sent: escaped, and cut so that a hostile text can't blow up a message. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > LONGEST_QUOTE ? `${text.slice(0, LONGEST_QUOTE)}…` : text);
}

const LONGEST_QUOTE = 60;
