import assert from "node:assert/strict";
import { test } from "node:test";
import { violations } from "./axe.js";
import { begin, settled, SKIP, stage } from "./page.js";

const it = stage();

for (const colorScheme of ["light", "dark"] as const) {
  test(`axe-core finds nothing wrong with panels, ${colorScheme}`, { skip: SKIP }, async () => {
    const { page } = await it.open({ colorScheme });
    const rows = Array.from({ length: 80 }, (_, i) => ({ city: `c${i % 5}`, people: i * i }));
    const contextId = await begin(page, `use dataset ${JSON.stringify({ name: "cities", rows })}`);
    await settled(page);
    const { api } = it.server;
    await api.writeArtifact(contextId, "notes", { text: "# Notes", name: "notes.md" });
    await api.writeArtifact(contextId, "data", { data: { a: [1, "x", null, true] }, name: "data" });
    await page.getByRole("button", { name: "Artifacts", exact: true }).click();
    const panel = page.getByRole("complementary", { name: "Artifacts" });
    await panel.locator(".artifact-entry").nth(2).waitFor();
    assert.deepEqual(await violations(page), [], "artifacts");
    for (const name of ["cities", "notes.md", "data"]) {
      await panel.getByRole("button", { name }).click();
      if (name === "cities") {
        await panel.getByRole("button", { name: "Chart" }).click();
      }
      assert.deepEqual(await violations(page), [], name);
      await panel.getByRole("button", { name: "All artifacts" }).click();
    }
    await page.getByRole("button", { name: "Understanding", exact: true }).click();
    await page.locator(".event[data-kind=task-complete]").last().hover();
    assert.deepEqual(await violations(page), [], "understanding");
    await page.getByRole("button", { name: "One event back" }).click();
    await page.getByText("As it was after event").waitFor();
    assert.deepEqual(await violations(page), [], "past");
  });
}
