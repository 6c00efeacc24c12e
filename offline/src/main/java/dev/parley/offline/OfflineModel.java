package dev.parley.offline;

import com.google.re2j.Matcher;
import com.google.re2j.Pattern;
import dev.parley.model.Model;
import dev.parley.model.ModelReply;
import dev.parley.model.ModelSink;
import dev.parley.model.Prompt;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.runtime.Time;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;

/// A rule-based model that needs no network: simple phrases trigger each feature.
///
/// It is deterministic: its output depends only on the person's last message and on the tool
/// results since then. Safe for use by many threads.
public final class OfflineModel implements Model {

  /// The name of this model.
  public static final String NAME = OfflineTurn.MODEL;

  /// The default pause between numbers when it counts slowly.
  public static final Duration PACE = Duration.ofMillis(50);

  private interface OfflineAction {
    void run(OfflineTurn offlineTurn, Matcher phrase) throws InterruptedException;
  }

  private record Rule(Pattern phrase, OfflineAction act) {}

  private final Supplier<String> ids;
  private final List<Rule> rules;

  public OfflineModel(Supplier<String> ids, Duration pace, Time time) {
    this.ids = ids;
    this.rules =
        List.of(
            rule("say\\s+(.+)", (x, _) -> x.writeText(OfflinePhrases.after("say", x.request()))),
            rule(
                "count to (\\d{1,9})",
                (x, m) -> OfflinePhrases.count(x, m.group(1), Duration.ZERO, time)),
            rule(
                "count slowly to (\\d{1,9})",
                (x, m) -> OfflinePhrases.count(x, m.group(1), pace, time)),
            rule("think about (.+)", (x, m) -> OfflinePhrases.think(x, m.group(1))),
            rule(
                "summari[sz]e (?:all )?(?:the )?csv(?: files?)?.*",
                (x, _) -> OfflineCsvSummary.run(x)),
            rule(
                "write (?:me )?a report (?:on|about) (.+)",
                (x, m) -> OfflineTools.report(x, m.group(1))),
            rule(
                "write (.+) to (?:the )?(?:file )?(\\S+)",
                (x, m) -> OfflineActions.write(x, m.group(1), m.group(2))),
            rule(
                "(?:read|show|open) (?:the )?(?:file )?(\\S+)",
                (x, m) -> OfflineTools.read(x, m.group(1))),
            rule("(?:list|show)(?: the| my| all)? files.*", (x, _) -> OfflineTools.list(x)),
            rule("what files are (?:here|there)", (x, _) -> OfflineTools.list(x)),
            rule("search (?:files )?for (.+)", (x, m) -> OfflineTools.search(x, m.group(1))),
            rule("what(?: time is it|'s the time| is the time).*", (x, _) -> OfflineTools.time(x)),
            rule("(?:calculate|compute) (.+)", (x, m) -> OfflineTools.calculate(x, m.group(1))),
            rule(
                "what(?: is|'s) ([-+(\\d.][-+*/%^()\\d.,\\s]*)",
                (x, m) -> OfflineTools.calculate(x, m.group(1))),
            rule("loop", (x, _) -> OfflineTools.loop(x)),
            rule("run\\s+(.+)", (x, _) -> OfflineActions.run(x)),
            rule(
                "use (?:the tool )?([\\w-]+) (\\{.*\\})",
                (x, m) -> OfflineActions.use(x, m.group(1), m.group(2))),
            rule("ask me\\s+(.+)", (x, _) -> OfflineActions.ask(x)),
            rule("sign in to (\\S+)", (x, m) -> OfflineActions.signIn(x, m.group(1))),
            rule("fetch (\\S+)", (x, m) -> OfflineActions.fetch(x, m.group(1))),
            rule(
                "delegate (.+) to (.+)",
                (x, m) -> OfflineDelegation.run(x, m.group(1), m.group(2))),
            rule("help|what can you do", (x, _) -> x.writeText(OfflinePhrases.HELP)));
  }

  private static Rule rule(String phrase, OfflineAction offlineAction) {
    var flags = Pattern.CASE_INSENSITIVE | Pattern.DOTALL;
    return new Rule(Pattern.compile("(?:please\\s+)?(?:" + phrase + ")", flags), offlineAction);
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public ModelReply ask(Prompt prompt, ModelSink modelSink) throws InterruptedException {
    var offlineTurn = new OfflineTurn(prompt, modelSink, ids);
    var request = OfflinePhrases.bare(offlineTurn.request());
    if (request.equalsIgnoreCase("fail")) {
      return new ModelReply.ModelError(
          ErrorCode.MODEL_ERROR, "the model failed, as it was asked to", false);
    }
    for (var rule : rules) {
      var phrase = rule.phrase().matcher(request);
      if (phrase.matches()) {
        rule.act().run(offlineTurn, phrase);
        return offlineTurn.reply();
      }
    }
    OfflinePhrases.other(offlineTurn, offlineTurn.request().strip());
    return offlineTurn.reply();
  }
}
