/** What an operation does, when, and what is worth knowing of its errors and limits: plain sentences, in Markdown. */
export type OperationText = Readonly<{ summary: string; description: string }>;

/** By the id of the operation. */
export type OperationTexts = Readonly<Record<string, OperationText>>;
