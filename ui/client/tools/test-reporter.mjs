// Writes one line of JSON for each test. A suite counts as a test only if it fails itself.
export default async function* report(source) {
  for await (const { type, data } of source) {
    if (type !== "test:pass" && type !== "test:fail") {
      continue;
    }
    const failed = type === "test:fail";
    const skipped = data.skip !== undefined && data.skip !== false;
    const ownFailure = failed && data.details?.error?.failureType !== "subtestsFailed";
    if (data.details?.type !== "suite" || skipped || ownFailure) {
      const seconds = data.details.duration_ms / 1_000;
      yield `${JSON.stringify({ test: data.name, seconds, failed, skipped })}\n`;
    }
  }
}
