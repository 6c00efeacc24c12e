import { KINDS, type LogFilter, type TaskNode } from "@parley/client";
import { useEffect, useRef, useState } from "preact/hooks";
import { agentName, useSession } from "../app/session.js";
import { useConversationView } from "../conversation/conversation-context.js";

const TYPING_MS = 250;
const PROMPT_MAX = 40;

interface FilterProps {
  readonly filter: LogFilter;
  readonly onChoose: (filter: LogFilter) => void;
}

/** The filters of the event log. */
export function LogFilters({ filter, onChoose }: FilterProps) {
  const { state } = useSession();
  const { view } = useConversationView();
  const [text, setText] = useState(filter.text);
  // Keep filters that are changed while typing.
  const latest = useRef(filter);
  latest.current = filter;
  useEffect(() => {
    if (text === filter.text) {
      return undefined;
    }
    const timer = setTimeout(() => onChoose({ ...latest.current, text }), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const kind = filter.kinds[0] ?? "";
  const chooseKind = (value: string): void => {
    const internal = filter.internal || value.startsWith("internal:");
    onChoose({ ...filter, kinds: value === "" ? [] : [value], internal });
  };
  const chooseTask = (value: string): void =>
    onChoose({ ...filter, taskId: value === "" ? undefined : value });
  return (
    <div class="log-filters">
      <label class="pick">
        <span class="sr-only">Kind</span>
        <select value={kind} onChange={(event) => chooseKind(event.currentTarget.value)}>
          <option value="">All kinds</option>
          {KINDS.map((one) => (
            <option key={one} value={one}>
              {one}
            </option>
          ))}
        </select>
      </label>
      <label class="pick">
        <span class="sr-only">Task</span>
        <select
          value={filter.taskId ?? ""}
          onChange={(event) => chooseTask(event.currentTarget.value)}
        >
          <option value="">All tasks</option>
          {flat(view.tasks).map((task) => (
            <option key={task.taskId} value={task.taskId}>
              {agentName(state.agents, task.agentId)}: {(task.prompt ?? "").slice(0, PROMPT_MAX)}
            </option>
          ))}
        </select>
      </label>
      <label class="log-search">
        <span class="sr-only">Search in events</span>
        <input
          type="search"
          placeholder="Search"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      <label class="checkbox">
        <input
          type="checkbox"
          checked={filter.internal}
          onChange={(event) => onChoose({ ...filter, internal: event.currentTarget.checked })}
        />
        internal
      </label>
    </div>
  );
}

function flat(tasks: readonly TaskNode[]): readonly TaskNode[] {
  return tasks.flatMap((task) => [task, ...flat(task.children)]);
}
