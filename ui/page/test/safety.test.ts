import assert from "node:assert/strict";
import { test } from "node:test";
import { startConversation, waitUntilIdle, SKIP, setUp } from "./page.js";

const env = setUp({ files: { "page.html": "<script>window.hit = 1</script>" } });
const options = { skip: SKIP };

const NASTY = [
  "<script>window.hit = 1</script>",
  "<img src=x onerror='window.hit = 1'>",
  "<iframe srcdoc='<script>parent.hit = 1</script>'></iframe>",
  "<svg onload='window.hit = 1'></svg>",
  "[link](javascript:window.hit=1)",
  "[file](file:///etc/passwd) [data](data:text/html,<script>1</script>) [in](/api/contexts)",
  "![picture](http://elsewhere.invalid/picture.png?secret=1)",
  "<http://elsewhere.invalid/auto> &lt;b&gt; &#60;i&#62;",
  "<style>body { display: none }</style><a href='javascript:1' onclick='hit=1'>x</a>",
  "`<b>code</b>`",
];

test("what models and tools say is never run, and no request leaves", options, async () => {
  const { page, errors } = await env.open();
  const asked: string[] = [];
  page.on("request", (request) => asked.push(request.url()));
  await startConversation(page, `say ${NASTY.join("\n\n")}`);
  await waitUntilIdle(page);
  await page.getByRole("textbox", { name: "Message" }).fill("read page.html");
  await page.keyboard.press("Enter");
  await page.locator(".call summary").click();
  await waitUntilIdle(page);
  assert.equal(await page.evaluate("window.hit"), undefined);
  const thread = page.locator(".thread");
  const forbidden = "script, iframe, style, img, object, embed, form form, [onerror], [onclick]";
  assert.equal(await thread.locator(forbidden).count(), 0);
  for (const href of await thread
    .locator("a[href]")
    .evaluateAll((all) => all.map((a) => a.getAttribute("href") ?? ""))) {
    assert.match(href, /^(https?:|mailto:|#)/);
  }
  assert.ok(
    asked.every((url) => url.startsWith(env.server.url)),
    asked.join("\n"),
  );
  await thread.getByText("<script>window.hit = 1</script>").first().waitFor();
  assert.deepEqual(errors, []);
});

test("names and titles from elsewhere are only text", options, async () => {
  const { page } = await env.open();
  const { contextId } = await env.server.api.createContext({ title: NASTY[1] ?? "" });
  await env.server.api.send(contextId, {
    content: `use ask_user ${JSON.stringify({
      question: NASTY[0],
      options: [NASTY[1], NASTY[3]],
    })}`,
  });
  await page.goto(`${env.server.url}/#/c/${contextId}`);
  await page.locator(".choice").first().waitFor();
  assert.equal(await page.evaluate("window.hit"), undefined);
  assert.equal(await page.locator("img, main script, main svg[onload]").count(), 0);
  await page.locator(".choice").first().click();
  await waitUntilIdle(page);
});

test("the policy lets nothing in but the page's own files", options, async () => {
  const { page } = await env.open();
  const response = await page.goto(`${env.server.url}/`);
  const policy = response?.headers()["content-security-policy"] ?? "";
  for (const rule of ["default-src 'none'", "script-src 'self'", "style-src 'self'"]) {
    assert.ok(policy.includes(rule), policy);
  }
  assert.ok(policy.includes("require-trusted-types-for 'script'"), policy);
  const ran = await page.evaluate(async () => {
    const script = document.createElement("script");
    try {
      script.textContent = "window.hit = 1";
      document.head.append(script);
    } catch {
      // Trusted Types may reject even this.
    }
    const sent = await fetch("https://elsewhere.invalid/").then(
      () => "sent",
      () => "refused",
    );
    return [(window as { hit?: number }).hit, sent];
  });
  assert.deepEqual(ran, [undefined, "refused"]);
});

test("files with hashes are kept for ever, the page is asked for again", options, async () => {
  const html = await fetch(`${env.server.url}/`, { headers: { accept: "text/html" } });
  const tag = html.headers.get("etag") ?? "";
  assert.equal(html.headers.get("cache-control"), "no-cache");
  const again = await fetch(`${env.server.url}/`, {
    headers: { accept: "text/html", "if-none-match": tag },
  });
  assert.equal(again.status, 304);
  const script = /src="([^"]+)"/.exec(await html.text())?.[1] ?? "";
  const file = await fetch(env.server.url + script);
  assert.match(file.headers.get("cache-control") ?? "", /immutable/);
  assert.match(file.headers.get("content-type") ?? "", /javascript/);
  assert.equal(file.headers.get("content-encoding"), "gzip");
  assert.equal((await fetch(`${env.server.url}/assets/../index.html`)).status, 404);
  assert.equal((await fetch(`${env.server.url}/assets/nothing.js`)).status, 404);
  const whatever = await fetch(`${env.server.url}/`, { headers: { accept: "*/*" } });
  assert.match(await whatever.text(), /<div id="page">/);
  const plain = await fetch(`${env.server.url}/`, { headers: { accept: "text/plain" } });
  assert.match(await plain.text(), /curl -N/);
});
