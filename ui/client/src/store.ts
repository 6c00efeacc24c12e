/** An observable value: `get` returns the same object until the value changes. */
export class Store<T> {
  private readonly listeners = new Set<() => void>();

  constructor(private value: T) {}

  readonly get = (): T => this.value;

  /** Calls `listener` after each change. Returns a function that unsubscribes it. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => {
      this.listeners.delete(listener);
    };
  };

  set(value: T): void {
    if (!Object.is(value, this.value)) {
      this.value = value;
      for (const listener of [...this.listeners]) {
        listener();
      }
    }
  }
}
