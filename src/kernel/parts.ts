/**
 * A large part of something that is stored, kept apart from the JSON that names it. It never changes: what is stored of it is stored once,
 * however often what it is part of changes elsewhere.
 */
export type Part = Readonly<{ bytes: () => Uint8Array }>;

/** Keeps a part, and gives the name that stands for it in the JSON. */
export type PutPart = (part: Part) => string;

/** The part of a name, which `read` makes of its bytes where it is not in memory. */
export type GetPart = <P extends Part>(name: string, read: (bytes: Uint8Array) => P) => P;
