/** A value that changes, for pages: `get` is the same object until something has changed. */
export class Store<T> {
  private readonly listeners = new Set<() => void>();

  constructor(private value: T) {}

  readonly get = (): T => this.value;

  /** Calls `listener` after each change, until the function that it returns is called. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => {
      this.listeners.delete(listener);
    };
  };

  set(value: T): void {
    if (!Object.is(value, this.value)) {
      this.value = value;
      [...this.listeners].forEach((listener) => listener());
    }
  }
}
