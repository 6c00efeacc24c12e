import assert from "node:assert/strict";
import { test } from "node:test";
import { downloadedText, startConversation, waitUntilIdle, SKIP, setUp } from "./page.js";
import { watchForViolations } from "./violations.js";

const AGENT = "<img src=x onerror=hit=1>[a](javascript:hit=1)";
const FILE = "<img src=x onerror=hit=1>&lt;b&gt;.txt";
const env = setUp({
  files: { [FILE]: "a file" },
  config: `agents:\n  - {id: nasty, name: ${JSON.stringify(AGENT)}, type: llm}\nsupervisor: {fallbackAgent: nasty}\n`,
});
const options = { skip: SKIP };
const ELSEWHERE = "http://elsewhere.invalid";
const SCRIPT = "<script>window.hit = 1; alert(1)</script>";
const NASTY = [
  SCRIPT,
  `<img src="${ELSEWHERE}/a.png" onerror="window.hit = 1">`,
  `<iframe src="javascript:parent.hit=1"></iframe><svg onload="window.hit=1"></svg>`,
  `![p](${ELSEWHERE}/b.png) [l](javascript:window.hit=1) [d](data:text/html,${SCRIPT})`,
  `<link rel=stylesheet href=${ELSEWHERE}/c.css><style>@import "${ELSEWHERE}/d.css"</style>`,
  `<form action="${ELSEWHERE}"><button>x</button></form><base href="${ELSEWHERE}/">`,
].join("\n\n");
const SVG = `<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20" onload="parent.hit=1">
<script>parent.hit = 1; alert(1); fetch("${ELSEWHERE}/svg")</script>
<image href="${ELSEWHERE}/e.png" width="9" height="9"/><style>@import "${ELSEWHERE}/f.css";</style>
<foreignObject><iframe xmlns="http://www.w3.org/1999/xhtml" src="${ELSEWHERE}/g"/></foreignObject>
<rect width="20" height="20"/></svg>`;

test(
  "nothing in files, data, tables, names and pictures is run, and nothing leaves",
  options,
  async () => {
    const { page } = await env.open();
    const clean = await watchForViolations(page, env.server.url);
    const rows = [
      { [SCRIPT]: NASTY, plain: `=HYPERLINK("${ELSEWHERE}")` },
      { [SCRIPT]: "@SUM(1)", plain: "+1" },
    ];
    const contextId = await startConversation(
      page,
      `use dataset ${JSON.stringify({ name: SCRIPT, rows })}`,
    );
    await waitUntilIdle(page);
    const put = (id: string, content: Parameters<typeof env.server.api.writeArtifact>[2]) =>
      env.server.api.writeArtifact(contextId, id, content);
    await put("md", { text: NASTY, name: `md${AGENT}.md`, mimeType: "text/markdown" });
    await put("html", { text: NASTY, name: "html.html", mimeType: "text/html" });
    await put("svg", { text: SVG, name: "svg.svg", mimeType: "image/svg+xml" });
    await put("liar", { text: `${SCRIPT}%PDF`, name: "liar.pdf", mimeType: "application/pdf" });
    await put("odd", { text: NASTY, name: "odd.png", mimeType: "image/png" });
    await put("data", { data: { [SCRIPT]: NASTY, ["__proto__x"]: [AGENT] }, name: "data" });
    await page.getByRole("button", { name: "Artifacts", exact: true }).click();
    const panel = page.getByRole("complementary", { name: "Artifacts" });
    await panel.locator(".artifact-entry").nth(6).waitFor();
    for (let i = 0; i < 7; i++) {
      await panel.locator(".artifact-entry").nth(i).click();
      await panel.getByRole("article").waitFor();
      const picture = panel.locator("img.picture");
      if ((await picture.count()) > 0) {
        await picture.evaluate((one) => (one as HTMLImageElement).decode().catch(() => undefined));
      }
      if ((await panel.getByRole("button", { name: "CSV" }).count()) > 0) {
        await panel.getByText(SCRIPT).first().waitFor();
        await panel.getByRole("button", { name: "Chart" }).click();
        const waiting = page.waitForEvent("download");
        await panel.getByRole("button", { name: "CSV" }).click();
        const download = await waiting;
        assert.doesNotMatch(download.suggestedFilename(), /[<>/:"]/);
        const csv = await downloadedText(download);
        assert.doesNotMatch(csv, /(^|,|\n)"?[=@]/);
        assert.ok(csv.includes("'@SUM(1)") && csv.includes("'=HYPERLINK"));
      }
      await clean();
      await panel.getByRole("button", { name: "All artifacts" }).click();
    }
    await clean();
  },
);

test(
  "nothing that models, tools and agents say is run in the log, the tree or the past",
  options,
  async () => {
    const { page } = await env.open();
    const clean = await watchForViolations(page, env.server.url);
    const contextId = await startConversation(page, `say ${NASTY}`);
    await waitUntilIdle(page);
    await env.server.api.updateContext(contextId, { title: AGENT });
    await page.getByRole("button", { name: "Trace", exact: true }).click();
    const panel = page.getByRole("complementary", { name: "Trace" });
    await panel.getByRole("treeitem").filter({ hasText: AGENT }).first().waitFor();
    await panel.locator(".event[data-kind=message]").last().hover();
    await panel.getByRole("region", { name: "Raw JSON" }).getByText("window.hit").first().waitFor();
    await panel.getByRole("spinbutton", { name: "Event number" }).fill("5");
    await page.getByText("As of event 5 of").waitFor();
    for (const format of ["JSON", "Markdown"]) {
      const waiting = page.waitForEvent("download");
      await panel.getByRole("button", { name: format, exact: true }).click();
      assert.doesNotMatch((await waiting).suggestedFilename(), /[<>/:"]/);
    }
    await clean();
  },
);

test(
  "nothing in questions, forms, thoughts and names of files is run, and no pattern holds the page up",
  options,
  async () => {
    const { page } = await env.open();
    const clean = await watchForViolations(page, env.server.url);
    const slow = "^(([a-z])+.)+[A-Z]([a-z])+$";
    const schema = {
      type: "object",
      title: NASTY,
      properties: {
        [SCRIPT]: {
          type: "string",
          title: NASTY,
          description: NASTY,
          pattern: slow,
          default: NASTY,
        },
        pick: { title: AGENT, enum: [SCRIPT, AGENT, { [SCRIPT]: NASTY }], description: SCRIPT },
        some: { type: "array", title: SCRIPT, items: { enum: [NASTY, AGENT] } },
        word: { type: "string", pattern: slow, format: SCRIPT },
      },
    };
    await startConversation(page, `use ask_user ${JSON.stringify({ question: NASTY, schema })}`);
    await page.locator(".question-card").getByText(SCRIPT).first().waitFor();
    await page.getByLabel("Word").fill("a".repeat(60));
    const started = Date.now();
    await page.locator(".question-card").getByLabel(AGENT).first().selectOption({ index: 1 });
    await page.evaluate(() => new Promise(requestAnimationFrame));
    assert.ok(Date.now() - started < 20_000, "the pattern was tried in the page");
    await clean();
    await startConversation(page, `think about ${NASTY}`);
    await page.getByRole("combobox", { name: "Thoughts to show" }).selectOption("detailed");
    await page.locator(".thought", { hasText: "window.hit" }).first().waitFor();
    await waitUntilIdle(page);
    await clean();
    await startConversation(page, "list files");
    await waitUntilIdle(page);
    await page.locator(".call summary").first().click();
    await page.locator(".call-body").getByText(FILE).first().waitFor();
    await clean();
    await startConversation(page, `ask me ${NASTY}`);
    await page.locator(".question-card").getByText(SCRIPT).first().waitFor();
    await clean();
  },
);
