import { isAddressProblem } from './address-problem.ts';
import { parseAddress } from './address.ts';
import { ipv4OfText } from './dotted-quad.ts';
import { writeWords } from './limbs.ts';
import { RangeIntake } from './range-intake.ts';
import { RangeSet } from './range-set.ts';

/** What is wrong with one text of a list, and its place there, from 0. */
export type ListedProblem = Readonly<{ at: number; problem: string }>;

/** The set of all addresses of a list, each read as `parseAddress` does; or the problems of the texts that are none, at most `problemsMax`. */
export function parseAddressList(
  texts: readonly string[],
  problemsMax = Number.POSITIVE_INFINITY,
): Readonly<{ set: RangeSet }> | Readonly<{ problems: readonly ListedProblem[] }> {
  const problems: ListedProblem[] = [];
  const intake = new RangeIntake(texts.length);
  for (let at = 0; at < texts.length && problems.length < problemsMax; at++) {
    const text = texts[at] ?? '';
    const ipv4 = ipv4OfText(text);
    if (ipv4 >= 0) {
      intake.addIpv4(ipv4, ipv4);
      continue;
    }
    const address = parseAddress(text);
    if (isAddressProblem(address)) problems.push({ at, problem: address.problem });
    else if (address.version === 4) intake.addIpv4(address.value, address.value);
    else {
      writeWords(address.value, words);
      intake.addIpv6(words, words);
    }
  }
  return problems.length > 0 ? { problems } : { set: RangeSet.fromIntake(intake) };
}

const words = new Uint32Array(4);
