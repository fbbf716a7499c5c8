/** A request as it can be sent, and what is answered then. Ids, instants and secrets are others each time. */
export type Example = Readonly<{ body?: object; status: number; answer: object }>;

/** By the id of the operation. */
export type Examples = Readonly<Record<string, Example>>;
