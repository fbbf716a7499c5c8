import { ipv4Prefix, ipv4Text, ipv6Text, octetText } from '../address-text.ts';
import type { EdgeList } from './list.ts';
import { decrementLimbs } from './limbs.ts';

/** Adds the canonical text of every range of an IPv4 list: `"a"` for a single address, `"a-b"` otherwise. */
export function pushIpv4Texts(list: EdgeList, texts: string[]): void {
  // Neighbours in a list mostly have three of four numbers in common, and joining texts is what writing them costs.
  let network = -1;
  let prefix = '';
  for (const { edges } of list.chunks) {
    for (let at = 0; at < edges.length; at += 2) {
      const first = edges[at] ?? 0;
      const last = (edges[at + 1] ?? 0) - 1;
      if (first >>> 8 !== network) {
        network = first >>> 8;
        prefix = ipv4Prefix(first);
      }
      const text = `${prefix}${octetText(first & 255)}`;
      texts.push(first === last ? text : `${text}-${ipv4Text(last)}`);
    }
  }
}

/** Adds the canonical text of every range of an IPv6 list. */
export function pushIpv6Texts(list: EdgeList, texts: string[]): void {
  for (const { edges } of list.chunks) {
    for (let at = 0; at < edges.length; at += 6) {
      const first = ipv6Text(edges[at] ?? 0, edges[at + 1] ?? 0, edges[at + 2] ?? 0);
      const end = edges.slice(at + 3, at + 6);
      decrementLimbs(end, 0);
      const last = ipv6Text(end[0] ?? 0, end[1] ?? 0, end[2] ?? 0);
      texts.push(first === last ? first : `${first}-${last}`);
    }
  }
}
