import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { startConversation, waitUntilIdle, SKIP, setUp } from "./page.js";

const env = setUp();
const options = { skip: SKIP };
const questionCard = (page: Page) => page.locator(".question-card");
const ask = (schema: object) =>
  `use ask_user ${JSON.stringify({ question: "Which trip?", schema })}`;

const TRIP = {
  type: "object",
  properties: {
    name: { type: "string", minLength: 2, maxLength: 40 },
    seats: { type: "integer", minimum: 1, maximum: 6 },
    budget: { type: "number", exclusiveMinimum: 0 },
    class: { enum: ["first", "second"] },
    meals: { type: "array", title: "Meals", items: { enum: ["breakfast", "lunch", "dinner"] } },
    stops: { type: "array", title: "Stops", items: { type: "string" }, minItems: 2 },
    ages: { type: "array", items: { type: "integer", minimum: 0 } },
    quiet: { type: "boolean", title: "Quiet coach" },
    contact: {
      type: "object",
      properties: { mail: { type: "string", format: "email" } },
      required: ["mail"],
    },
    extra: { type: "object", title: "Anything else" },
  },
  required: ["name", "seats", "contact", "meals"],
};

async function answered(contextId: string): Promise<unknown> {
  const { events } = await env.server.api.events(contextId, {
    filter: { kinds: ["input-received"] },
  });
  return events.map((event) => event.kind === "input-received" && event.value);
}

test(
  "each field says beside itself what is wrong with it, and what fits is sent",
  options,
  async () => {
    const { page, errors } = await env.open();
    const contextId = await startConversation(page, ask(TRIP));
    const field = (label: string) => questionCard(page).getByLabel(label, { exact: false });
    const wrong = async (label: string, value: string, why: string): Promise<void> => {
      await field(label).fill(value);
      // The description that a screen reader announces with the field.
      const about = await field(label).getAttribute("aria-describedby");
      await page.locator(`[id="${about}"] .problem`, { hasText: why }).waitFor();
      assert.equal(await field(label).getAttribute("aria-invalid"), "true");
    };
    await field("Name").waitFor();
    assert.equal(
      await questionCard(page).locator(".problem").count(),
      0,
      "nothing is wrong before one tries",
    );
    await questionCard(page).getByRole("button", { name: "Answer" }).click();
    await questionCard(page).getByText("This field is required.").first().waitFor();
    assert.equal(await questionCard(page).getByText("This field is required.").count(), 4);
    await wrong("Name", "A", "at least 2 characters");
    await wrong("Seats", "7", "at most 6");
    await wrong("Seats", "0", "at least 1");
    await wrong("Seats", "1.5", "a whole number");
    await wrong("Budget", "0", "more than 0");
    await wrong("Stops", "Bern", "at least 2");
    await wrong("Ages", "4\n-1", "Number 2 must be at least 0");
    await wrong("Anything else", "{", "This must be JSON.");
    await field("Name").fill("Ada");
    await field("Seats").fill("2");
    await field("Budget").fill("99.5");
    await field("Class").selectOption({ label: "second" });
    const meals = questionCard(page).getByRole("group", { name: "Meals" });
    for (const meal of ["breakfast", "lunch", "dinner"]) {
      await meals.getByLabel(meal).check();
    }
    await meals.getByLabel("lunch").uncheck();
    await field("Stops").fill("Bern\n Oslo \n");
    await field("Ages").fill("4\n36");
    await field("Mail").fill("ada@example.org");
    await field("Anything else").fill('{"a": 1}');
    await questionCard(page).locator(".problem").first().waitFor({ state: "detached" });
    await questionCard(page).getByRole("button", { name: "Answer" }).click();
    await waitUntilIdle(page);
    assert.deepEqual(await answered(contextId), [
      {
        name: "Ada",
        seats: 2,
        budget: 99.5,
        class: "second",
        meals: ["breakfast", "dinner"],
        stops: ["Bern", "Oslo"],
        ages: [4, 36],
        contact: { mail: "ada@example.org" },
        extra: { a: 1 },
      },
    ]);
    assert.deepEqual(errors, []);
  },
);

test(
  "what only the server can check is said by it, and the form stays as it was",
  options,
  async () => {
    const { page } = await env.open();
    const schema = {
      type: "object",
      properties: { code: { type: "string", pattern: "^[A-Z]{3}$" } },
    };
    const contextId = await startConversation(page, ask(schema));
    await questionCard(page).getByLabel("Code").fill("abc");
    await questionCard(page).getByRole("button", { name: "Answer" }).click();
    await page.getByRole("alert").getByText("the answer does not fit").waitFor();
    assert.equal(await questionCard(page).getByLabel("Code").inputValue(), "abc");
    await questionCard(page).getByLabel("Code").fill("ABC");
    await page.keyboard.press("Enter");
    await waitUntilIdle(page);
    assert.deepEqual(await answered(contextId), [{ code: "ABC" }]);
  },
);
