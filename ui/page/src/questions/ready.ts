import { useEffect, useState } from "preact/hooks";
import { useListed } from "./answers.js";

/** Delay that prevents a click or key meant for something else from answering a new question. */
const READY_MS = 500;

/** True once a question has been visible in its place long enough to be noticed. */
export function useReady(): boolean {
  const place = useListed()?.place ?? "";
  const [readyAt, setReadyAt] = useState<string>();
  useEffect(() => {
    const timer = setTimeout(() => setReadyAt(place), READY_MS);
    return () => clearTimeout(timer);
  }, [place]);
  return readyAt === place;
}
