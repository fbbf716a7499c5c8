import { isAddressProblem } from './address-problem.ts';
import { parseAddress } from './address.ts';
import { ipv4OfText } from './dotted-quad.ts';
import { writeWords } from './limbs.ts';
import { RangeIntake } from './range-intake.ts';
import { RangeSet } from './range-set.ts';

/** What is wrong with one text of a list, and its place there, from 0. */
export type ListedProblem = Readonly<{ at: number; problem: string }>;

/** The addresses of a list as a set. */
export type AddressList = Readonly<{
  set: RangeSet;
  /** Whether the texts, as they stand, are the range texts of the set: IPv4 in order, and no two next to each other. */
  isCanonical: boolean;
}>;

/** The set of all addresses of a list, each read as `parseAddress` does; or the problem of every text that is none. */
export function parseAddressList(
  texts: readonly string[],
): AddressList | Readonly<{ problems: readonly ListedProblem[] }> {
  const problems: ListedProblem[] = [];
  let previous = -2;
  let isCanonical = true;
  const intake = new RangeIntake(texts.length);
  for (let at = 0; at < texts.length; at++) {
    const text = texts[at] ?? '';
    const ipv4 = ipv4OfText(text);
    if (ipv4 >= 0) {
      isCanonical &&= ipv4 > previous + 1;
      previous = ipv4;
      intake.addIpv4(ipv4, ipv4);
      continue;
    }
    isCanonical = false;
    const address = parseAddress(text);
    if (isAddressProblem(address)) problems.push({ at, problem: address.problem });
    else if (address.version === 4) intake.addIpv4(address.value, address.value);
    else {
      writeWords(address.value, words);
      intake.addIpv6(words, words);
    }
  }
  return problems.length > 0 ? { problems } : { set: RangeSet.fromIntake(intake), isCanonical };
}

const words = new Uint32Array(4);
