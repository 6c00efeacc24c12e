import { exportJson, exportMarkdown, fileName, markdownOf, messagesAt } from "@parley/client";
import { useState } from "preact/hooks";
import { useSession } from "../app/session.js";
import { useConversationView } from "../conversation/conversation-context.js";
import { Icon } from "../ui/Icon.js";
import { saveFile } from "../ui/save-file.js";

/** Exports the conversation up to the shown event. */
export function ExportButtons() {
  const { api } = useSession();
  const { view, past } = useConversationView();
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
    saveFile(`${name}.json`, parts, "application/json");
  };
  const markdown = async (): Promise<void> => {
    const text = at === undefined ? await exportMarkdown(api, contextId) : await asItWas(at);
    saveFile(`${name}.md`, [text], "text/markdown");
  };
  const asItWas = async (seq: number): Promise<string> => {
    const messages = await messagesAt(api, contextId, seq);
    const about = { contextId, createdAt: view.createdAt ?? "" };
    const title = view.title === undefined ? {} : { title: view.title };
    return markdownOf({ ...about, ...title }, messages, view.artifacts);
  };
  return (
    <div class="export" role="group" aria-label="Export">
      <button type="button" class="button small" disabled={busy} onClick={() => void run(json)}>
        <Icon name="download" /> JSON
      </button>
      <button type="button" class="button small" disabled={busy} onClick={() => void run(markdown)}>
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
