/** Those who wait until views are open again. */
export class Reopening {
  #promise: Promise<void> | undefined;
  #settle: Readonly<{ resolve: () => void; reject: (error: unknown) => void }> | undefined;

  /** What others wait for already. */
  underWay(): Promise<void> | undefined {
    return this.#promise;
  }

  /** Resolves or rejects with `end`. */
  begin(): Promise<void> {
    const promise = new Promise<void>((resolve, reject) => (this.#settle = { resolve, reject }));
    // Those who wait hear of a failure; there may be none.
    promise.catch(() => undefined);
    this.#promise = promise;
    return promise;
  }

  /** The views are open again, or can't be: those who wait go on. */
  end(failure?: unknown): void {
    if (failure === undefined) this.#settle?.resolve();
    else this.#settle?.reject(failure);
    this.#promise = undefined;
    this.#settle = undefined;
  }
}
