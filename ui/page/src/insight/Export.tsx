import { exportJson, exportMarkdown, fileName, markdownOf, messagesAt } from "@parley/client";
import { useState } from "preact/hooks";
import { useSession } from "../app/session.js";
import { useScene } from "../conversation/scene.js";
import { Icon } from "../ui/Icon.js";
import { save } from "../ui/save.js";

/** Saves the conversation, up to where it is looked at. */
export function Export() {
  const { api } = useSession();
  const { view, past } = useScene();
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const run = async (work: () => Promise<void>): Promise<void> => {
    setBusy(true);
    setProblem(undefined);
    try {
      await work();
    } catch (failure) {
      setProblem(failure instanceof Error ? failure.message : String(failure));
    }
    setBusy(false);
  };
  const { contextId } = view;
  const at = past.get().at;
  const name = fileName(view.title, contextId);
  const json = async (): Promise<void> => {
    const parts: string[] = [];
    for await (const part of exportJson(api, contextId, { upTo: at })) {
      parts.push(part);
    }
    save(`${name}.json`, parts, "application/json");
  };
  const markdown = async (): Promise<void> => {
    const text = at === undefined ? await exportMarkdown(api, contextId) : await asItWas(at);
    save(`${name}.md`, [text], "text/markdown");
  };
  const asItWas = async (seq: number): Promise<string> => {
    const messages = await messagesAt(api, contextId, seq);
    const about = { contextId, createdAt: view.createdAt ?? "" };
    const title = view.title === undefined ? {} : { title: view.title };
    return markdownOf({ ...about, ...title }, messages, view.artifacts);
  };
  return (
    <div class="export" role="group" aria-label="Export">
      <button class="button small" disabled={busy} onClick={() => void run(json)}>
        <Icon name="download" /> JSON
      </button>
      <button class="button small" disabled={busy} onClick={() => void run(markdown)}>
        <Icon name="download" /> Markdown
      </button>
      {problem !== undefined && (
        <span class="problem" role="alert">
          {problem}
        </span>
      )}
    </div>
  );
}
