package dev.parley.model;

import com.google.re2j.Matcher;
import com.google.re2j.Pattern;
import dev.parley.protocol.ReportEvent.ErrorCode;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;

/// A rule-based model that needs no network: simple phrases trigger each feature.
///
/// It is deterministic: its output depends only on the person's last message and on the tool
/// results since then. Safe for use by many threads.
public final class OfflineModel implements Model {

  /// The name of this model.
  public static final String NAME = "offline";

  /// The default pause between numbers when it counts slowly.
  public static final Duration PACE = Duration.ofMillis(50);

  private interface Act {
    void play(Exchange exchange, Matcher phrase) throws InterruptedException;
  }

  private record Rule(Pattern phrase, Act act) {}

  private final Supplier<String> ids;
  private final List<Rule> rules;

  public OfflineModel(Supplier<String> ids, Duration pace) {
    this.ids = ids;
    this.rules =
        List.of(
            rule("say\\s+(.+)", (x, _) -> x.say(Speech.after("say", x.request()))),
            rule("count to (\\d{1,9})", (x, m) -> Speech.count(x, m.group(1), Duration.ZERO)),
            rule("count slowly to (\\d{1,9})", (x, m) -> Speech.count(x, m.group(1), pace)),
            rule("think about (.+)", (x, m) -> Speech.think(x, m.group(1))),
            rule("summari[sz]e (?:all )?(?:the )?csv(?: files?)?.*", (x, _) -> CsvSummary.play(x)),
            rule("write (?:me )?a report (?:on|about) (.+)", (x, m) -> Desk.report(x, m.group(1))),
            rule(
                "write (.+) to (?:the )?(?:file )?(\\S+)",
                (x, m) -> Errands.write(x, m.group(1), m.group(2))),
            rule(
                "(?:read|show|open) (?:the )?(?:file )?(\\S+)", (x, m) -> Desk.read(x, m.group(1))),
            rule("(?:list|show)(?: the| my| all)? files.*", (x, _) -> Desk.list(x)),
            rule("what files are (?:here|there)", (x, _) -> Desk.list(x)),
            rule("search (?:files )?for (.+)", (x, m) -> Desk.search(x, m.group(1))),
            rule("what(?: time is it|'s the time| is the time).*", (x, _) -> Desk.time(x)),
            rule("(?:calculate|compute) (.+)", (x, m) -> Desk.calculate(x, m.group(1))),
            rule(
                "what(?: is|'s) ([-+(\\d.][-+*/%^()\\d.,\\s]*)",
                (x, m) -> Desk.calculate(x, m.group(1))),
            rule("loop", (x, _) -> Desk.loop(x)),
            rule("run\\s+(.+)", (x, _) -> Errands.run(x)),
            rule(
                "use (?:the tool )?([\\w-]+) (\\{.*\\})",
                (x, m) -> Errands.use(x, m.group(1), m.group(2))),
            rule("ask me\\s+(.+)", (x, _) -> Errands.ask(x)),
            rule("sign in to (\\S+)", (x, m) -> Errands.signIn(x, m.group(1))),
            rule("fetch (\\S+)", (x, m) -> Errands.fetch(x, m.group(1))),
            rule("delegate (.+) to (.+)", (x, m) -> Delegation.play(x, m.group(1), m.group(2))),
            rule("help|what can you do", (x, _) -> x.say(Speech.HELP)));
  }

  private static Rule rule(String phrase, Act act) {
    var flags = Pattern.CASE_INSENSITIVE | Pattern.DOTALL;
    return new Rule(Pattern.compile("(?:please\\s+)?(?:" + phrase + ")", flags), act);
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public Reply ask(Prompt prompt, Sink sink) throws InterruptedException {
    var exchange = new Exchange(prompt, sink, ids);
    var request = Speech.bare(exchange.request());
    if (request.equalsIgnoreCase("fail")) {
      return new Reply.Failed(ErrorCode.MODEL_ERROR, "the model failed, as it was asked to", false);
    }
    for (var rule : rules) {
      var phrase = rule.phrase().matcher(request);
      if (phrase.matches()) {
        rule.act().play(exchange, phrase);
        return exchange.reply();
      }
    }
    Speech.other(exchange, exchange.request().strip());
    return exchange.reply();
  }
}
