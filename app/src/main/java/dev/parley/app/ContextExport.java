package dev.parley.app;

import dev.parley.client.EventPage;
import dev.parley.client.ParleyClient;
import dev.parley.client.StreamFilter;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import dev.parley.protocol.MessageView;
import dev.parley.protocol.Position;
import dev.parley.protocol.ResultPage;
import dev.parley.protocol.Timestamps;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// Exports a context page by page, so that contexts of any size can be exported.
final class ContextExport {

  private static final int PAGE = 1000;
  private static final int MESSAGES = 200;
  private static final int ARTIFACTS_MAX = 10_000;
  private static final int NAME_MAX = 200;

  private final ParleyClient client;
  private final ContextId context;
  private final OutputStream out;

  ContextExport(ParleyClient client, ContextId context, OutputStream out) {
    this.client = client;
    this.context = context;
    this.out = out;
  }

  /// Writes one object with the context and its events, without text that was deleted or edited.
  void json() throws IOException {
    var info = client.context(context);
    text("{\"context\":");
    out.write(Json.bytes(info));
    text(",\"events\":[");
    events("\n", ",\n", at -> client.correctedEvents(context, at, PAGE));
    text("\n]}\n");
  }

  /// Writes one event per line, exactly as in the log.
  void jsonLines() throws IOException {
    if (events("", "\n", at -> client.events(context, at, PAGE, StreamFilter.ALL)) > 0) {
      text("\n");
    }
  }

  private long events(String first, String separator, Function<Position, EventPage> read)
      throws IOException {
    var count = 0L;
    var position = Position.START;
    for (var more = true; more; ) {
      var page = read.apply(position);
      for (var event : page.events()) {
        text(count++ == 0 ? first : separator);
        out.write(Json.bytes(event));
      }
      more = page.hasMore() && page.position().after(position);
      position = page.position();
    }
    return count;
  }

  /// Writes the conversation as Markdown.
  void markdown() {
    var info = client.context(context);
    var print = new PrintStream(out, false, StandardCharsets.UTF_8);
    var title = info.title();
    print.println(
        "# " + (title == null ? "Context " + context : TextSanitizer.line(title, NAME_MAX)));
    print.println();
    print.println("Context `" + context + "`, " + Timestamps.format(info.createdAt()));
    forEachMessage(client, context, message -> message(print, message));
    var artifacts =
        ResultPage.collect(cursor -> client.artifacts(context, cursor, PAGE), ARTIFACTS_MAX);
    if (!artifacts.isEmpty()) {
      print.println();
      print.println("## Artifacts");
      print.println();
      for (var artifact : artifacts) {
        var name = artifact.name();
        print.println(
            "- %s (%s, version %d, %s, `%s`)"
                .formatted(
                    name == null ? "unnamed" : TextSanitizer.line(name, NAME_MAX),
                    artifact.type().wire(),
                    artifact.version(),
                    HumanUnits.size(artifact.size()),
                    artifact.artifactId()));
      }
    }
    print.flush();
  }

  /// Fetches all messages of a context, page by page.
  static void forEachMessage(ParleyClient client, ContextId context, Consumer<MessageView> reader) {
    @Nullable String cursor = null;
    do {
      var page = client.messages(context, cursor, MESSAGES);
      page.items().forEach(reader);
      cursor = page.items().isEmpty() ? null : page.nextCursor();
    } while (cursor != null);
  }

  private static void message(PrintStream print, MessageView message) {
    var agent = message.agentId();
    print.println();
    print.println("## " + message.role().wire() + (agent == null ? "" : " (" + agent + ")"));
    print.println();
    print.println(TextSanitizer.text(message.content()).strip());
  }

  private void text(String text) throws IOException {
    out.write(text.getBytes(StandardCharsets.UTF_8));
  }
}
