package dev.parley.app;

import dev.parley.audit.AuditRecord;
import dev.parley.audit.AuditRecord.ChainPoint;
import dev.parley.audit.ChainVerifier;
import dev.parley.client.ParleyClient;
import dev.parley.log.OwnerOnlyFiles;
import dev.parley.protocol.AuditPage;
import dev.parley.protocol.AuditPage.AuditItem;
import dev.parley.protocol.AuditPage.AuditPoint;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.node.ObjectNode;

/// `parley audit`.
@Command(
    name = "audit",
    mixinStandardHelpOptions = true,
    description = {
      "Shows, exports and verifies the audit trail: who did what, from where, with which result.",
      "Only operators may read it."
    },
    footer = {
      "",
      "Examples:",
      "  parley audit                                the newest records",
      "  parley audit --principal ann --result refused",
      "  parley audit export --out audit.jsonl       all records, oldest first",
      "  parley audit verify                         check the records on the server",
      "  parley audit verify audit.jsonl             check an export, without a server",
      "",
      "verify prints the number and the hash of the last record. Keep them in another place, and",
      "pass them with --contains later: a trail that somebody has written anew does not contain them."
    })
final class AuditCommand implements Callable<Integer> {

  private static final int PAGE = 1_000;
  private static final int TEXT_MAX = 80;

  private final Terminal terminal;

  @Mixin private final ServerOptions server = new ServerOptions();

  @Parameters(
      index = "0",
      arity = "0..1",
      paramLabel = "export|verify",
      description = "What to do. Default: list the newest records.")
  private @Nullable String action;

  @Parameters(
      index = "1",
      arity = "0..1",
      paramLabel = "FILE",
      description = "The export to verify.")
  private @Nullable Path file;

  @Option(names = "--principal", paramLabel = "NAME", description = "Only what NAME did.")
  private @Nullable String principal;

  @Option(
      names = "--action",
      paramLabel = "ACTION",
      description = "Only this action; may end with *.")
  private @Nullable String only;

  @Option(
      names = "--target",
      paramLabel = "TARGET",
      description = "Only what was done to TARGET, such as context:work; may end with *.")
  private @Nullable String target;

  @Option(
      names = "--result",
      paramLabel = "RESULT",
      description = "Only succeeded, refused or failed.")
  private @Nullable String result;

  @Option(
      names = "--since",
      paramLabel = "TIME",
      description = "Only from TIME on, such as 2026-11-19T08:00:00Z.")
  private @Nullable Instant since;

  @Option(names = "--until", paramLabel = "TIME", description = "Only before TIME.")
  private @Nullable Instant until;

  @Option(
      names = "--limit",
      paramLabel = "N",
      description = "The maximum number to list. Default: 50.")
  private int limit = 50;

  @Option(names = "--json", description = "One JSON object per line.")
  private boolean json;

  @Option(
      names = "--out",
      paramLabel = "FILE",
      description = "The file to export to; it must not exist. Default: standard output.")
  private @Nullable Path out;

  @Option(
      names = "--contains",
      paramLabel = "NUMBER:HASH",
      description = "Verify also that the trail contains this record.")
  private @Nullable String contains;

  AuditCommand(Terminal terminal) {
    this.terminal = terminal;
  }

  @Override
  public Integer call() throws IOException {
    ServerCommand.checkLimit(limit);
    if (action == null) {
      withServer(this::list);
      return 0;
    }
    return switch (action) {
      case "export" -> {
        withServer(this::export);
        yield 0;
      }
      case "verify" -> verify();
      default ->
          throw new CommandExit(
              CommandExit.USAGE, "Unknown action " + action + "; use export or verify");
    };
  }

  private interface ClientUse {
    void use(ParleyClient client) throws IOException;
  }

  private void withServer(ClientUse use) throws IOException {
    try (var client = server.client(terminal)) {
      use.use(client);
    }
  }

  private Map<String, String> filters() {
    var filters = new LinkedHashMap<String, String>();
    put(filters, "principal", principal);
    put(filters, "action", only);
    put(filters, "target", target);
    put(filters, "result", result);
    put(filters, "since", since);
    put(filters, "until", until);
    return filters;
  }

  private static void put(Map<String, String> filters, String name, @Nullable Object value) {
    if (value != null) {
      filters.put(name, value.toString());
    }
  }

  private void list(ParleyClient client) {
    var table = new AlignedTable("NUMBER", "TIME", "WHO", "FROM", "ACTION", "TARGET", "RESULT");
    var left = limit;
    Long before = null;
    do {
      var query = filters();
      query.put("limit", Integer.toString(Math.min(left, PAGE)));
      put(query, "before", before);
      var page = client.audit(query);
      for (var item : page.items()) {
        if (json) {
          terminal.out().println(line(item).line());
        } else {
          add(table, item.record());
        }
      }
      left -= page.items().size();
      before = page.next();
    } while (before != null && left > 0);
    if (!json) {
      table.print(terminal.out(), terminal.outStyle());
    }
    terminal.out().flush();
  }

  private static void add(AlignedTable table, ObjectNode fields) {
    var code = text(fields, "code");
    table.row(
        text(fields, "number"),
        AlignedTable.time(Instant.parse(fields.path("time").asString())),
        text(fields, "principal"),
        text(fields, "address"),
        text(fields, "action"),
        text(fields, "target"),
        text(fields, "result") + (code.isEmpty() ? "" : " (" + code + ")"));
  }

  private static String text(ObjectNode fields, String name) {
    return TextSanitizer.line(fields.path(name).asString(""), TEXT_MAX);
  }

  private static AuditRecord line(AuditItem item) {
    return new AuditRecord(
        item.record().path("number").asLong(),
        new String(Json.bytes(item.record()), StandardCharsets.UTF_8),
        item.hash());
  }

  private void export(ParleyClient client) throws IOException {
    if (out == null) {
      forEach(client, filters(), found -> terminal.out().println(found.line()));
      terminal.out().flush();
      return;
    }
    if (Files.exists(out)) {
      throw new CommandExit(CommandExit.USAGE, out + " exists; choose another file");
    }
    OwnerOnlyFiles.createFile(out);
    try (var writer = Files.newBufferedWriter(out)) {
      var count = new long[1];
      forEach(
          client,
          filters(),
          found -> {
            try {
              writer.write(found.line());
              writer.newLine();
              count[0]++;
            } catch (IOException failed) {
              throw new CommandExit(
                  CommandExit.FAILED, "Cannot write " + out + ": " + failed.getMessage());
            }
          });
      terminal.err().println("Exported " + count[0] + " records to " + out);
    }
  }

  /// Passes all records, oldest first, to `use`, and returns the last page.
  private static AuditPage forEach(
      ParleyClient client, Map<String, String> filters, Consumer<AuditRecord> use) {
    var after = 0L;
    while (true) {
      var query = new LinkedHashMap<>(filters);
      query.put("after", Long.toString(after));
      query.put("limit", Integer.toString(PAGE));
      var page = client.audit(query);
      page.items().forEach(item -> use.accept(line(item)));
      if (page.next() == null) {
        return page;
      }
      after = page.next();
    }
  }

  private int verify() throws IOException {
    var expected = contains == null ? null : parse(contains);
    var found = new boolean[] {expected == null || expected.number() == 0};
    Consumer<AuditRecord> look = next -> found[0] |= next.point().equals(expected);
    var verifier = file == null ? verifyServer(look) : verifyFile(file, look);
    if (verifier.problem().isPresent()) {
      throw new CommandExit(
          CommandExit.FAILED, "The audit trail was changed: " + verifier.problem().get());
    }
    if (!found[0]) {
      throw new CommandExit(
          CommandExit.FAILED,
          "The audit trail was changed, or is too short: it does not contain " + contains);
    }
    terminal
        .out()
        .println(
            verifier.count() == 0
                ? "The audit trail is empty."
                : "The audit trail is unchanged: %d records, the last one is %s"
                    .formatted(verifier.count(), verifier.last()));
    terminal.out().flush();
    return 0;
  }

  private static ChainPoint parse(String text) {
    try {
      return ChainPoint.parse(text);
    } catch (Rejection.Invalid malformed) {
      throw new CommandExit(CommandExit.USAGE, "--contains: " + malformed.getMessage());
    }
  }

  private ChainVerifier verifyServer(Consumer<AuditRecord> look) throws IOException {
    try (var client = server.client(terminal)) {
      var verifier = new ChainVerifier(point(client.audit(Map.of("limit", "1")).anchor()));
      var last =
          forEach(
              client,
              Map.of(),
              next -> {
                verifier.accept(next);
                look.accept(next);
              });
      verifier.atEnd(point(last.head()));
      return verifier;
    }
  }

  private static ChainPoint point(AuditPoint end) {
    return new ChainPoint(end.number(), end.hash());
  }

  /// Verifies an export, which may begin with any record.
  private ChainVerifier verifyFile(Path export, Consumer<AuditRecord> look) throws IOException {
    ChainVerifier verifier = null;
    try (var lines = Files.newBufferedReader(export)) {
      for (var line = lines.readLine(); line != null; line = lines.readLine()) {
        var next = AuditRecord.parseLine(line);
        if (verifier == null) {
          verifier =
              new ChainVerifier(
                  new ChainPoint(next.number() - 1, next.json().path("previous").asString("")));
        }
        verifier.accept(next);
        look.accept(next);
      }
    } catch (Rejection.Invalid malformed) {
      throw new CommandExit(CommandExit.FAILED, export + ": " + malformed.getMessage());
    }
    return verifier == null ? new ChainVerifier(ChainPoint.START) : verifier;
  }
}
