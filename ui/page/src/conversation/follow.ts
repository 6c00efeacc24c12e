import { follows, type ScrollPlace } from "@parley/client";
import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

/** Pixels that are no distance. */
const NEAR = 8;

interface Follow {
  readonly following: boolean;
  /** True if there is more below what is seen. */
  readonly away: boolean;
  /** Goes to the end, and stays there. */
  readonly follow: () => void;
  /** Stays where it is. */
  readonly release: () => void;
}

/** Keeps a box at its end while it grows, until the reader scrolls up or opens something. */
export function useFollow(box: RefObject<HTMLElement | null>): Follow {
  const [following, setFollowing] = useState(true);
  const [away, setAway] = useState(false);
  const now = useRef(true);
  const set = (value: boolean): void => {
    now.current = value;
    setFollowing(value);
  };
  useEffect(() => {
    const element = box.current;
    if (element === null) {
      return undefined;
    }
    let place = placeOf(element);
    const scrolled = (): void => {
      const next = placeOf(element);
      const follow = follows(now.current, place, next);
      place = next;
      setAway(below(next) > NEAR);
      if (follow !== now.current) {
        set(follow);
      }
    };
    const opened = (event: Event): void => {
      // What a reader opens is to stay in sight.
      if ((event.target as Element).closest("summary, [data-opens]") !== null) {
        set(false);
      }
    };
    const grown = new ResizeObserver(() => {
      if (now.current) {
        element.scrollTop = element.scrollHeight;
      }
      place = placeOf(element);
      setAway(below(place) > NEAR);
    });
    grown.observe(element);
    for (const child of element.children) {
      grown.observe(child);
    }
    element.addEventListener("scroll", scrolled, { passive: true });
    element.addEventListener("click", opened);
    return () => {
      grown.disconnect();
      element.removeEventListener("scroll", scrolled);
      element.removeEventListener("click", opened);
    };
  }, [box]);
  return {
    following,
    away,
    follow: () => {
      set(true);
      requestAnimationFrame(() => {
        if (box.current !== null) {
          box.current.scrollTop = box.current.scrollHeight;
        }
      });
    },
    release: () => set(false),
  };
}

function below({ scrollTop, clientHeight, scrollHeight }: ScrollPlace): number {
  return scrollHeight - clientHeight - scrollTop;
}

function placeOf({ scrollTop, clientHeight, scrollHeight }: HTMLElement): ScrollPlace {
  return { scrollTop, clientHeight, scrollHeight };
}
