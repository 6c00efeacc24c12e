import { follows, type ScrollPosition } from "@parley/client";
import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

/** Distance in pixels that counts as the end. */
const NEAR = 8;

interface Follow {
  readonly following: boolean;
  /** True if there is content below the visible part. */
  readonly away: boolean;
  /** Scrolls to the end and follows it. */
  readonly follow: () => void;
  /** Stops following the end. */
  readonly release: () => void;
}

/**
 * Keeps an element scrolled to its end while it grows, until the user scrolls up or expands
 * something.
 */
export function useAutoScroll(box: RefObject<HTMLElement | null>): Follow {
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
    let position = scrollPositionOf(element);
    const scrolled = (): void => {
      const next = scrollPositionOf(element);
      const follow = follows(now.current, position, next);
      position = next;
      setAway(below(next) > NEAR);
      if (follow !== now.current) {
        set(follow);
      }
    };
    const opened = (event: Event): void => {
      // Expanded content stays visible.
      if ((event.target as Element).closest("summary, [data-opens]") !== null) {
        set(false);
      }
    };
    const grown = new ResizeObserver(() => {
      if (now.current) {
        element.scrollTop = element.scrollHeight;
      }
      position = scrollPositionOf(element);
      setAway(below(position) > NEAR);
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

function below({ scrollTop, clientHeight, scrollHeight }: ScrollPosition): number {
  return scrollHeight - clientHeight - scrollTop;
}

function scrollPositionOf({ scrollTop, clientHeight, scrollHeight }: HTMLElement): ScrollPosition {
  return { scrollTop, clientHeight, scrollHeight };
}
