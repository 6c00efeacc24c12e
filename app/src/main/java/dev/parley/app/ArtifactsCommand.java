package dev.parley.app;

import dev.parley.client.ParleyClient;
import dev.parley.protocol.ArtifactView;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.ResultPage;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `parley artifacts`.
@Command(
    name = "artifacts",
    mixinStandardHelpOptions = true,
    description = {
      "Lists the artifacts of a context, or prints or saves one of them.",
      "Without CONTEXT, uses the context that changed last."
    },
    footer = {
      "",
      "Examples:",
      "  parley artifacts CONTEXT",
      "  parley artifacts CONTEXT report.md",
      "  parley artifacts --last report.md --out report.md"
    })
final class ArtifactsCommand extends ServerCommand {

  private static final int PAGE = 200;
  private static final int NAME_MAX = 60;

  @Parameters(
      index = "0",
      arity = "0..1",
      paramLabel = "CONTEXT",
      description = "The context: its id, or the first 4 or more characters of it.")
  private @Nullable String context;

  @Parameters(
      index = "1",
      arity = "0..1",
      paramLabel = "NAME",
      description = "The name or the id of the artifact to print. Default: list all.")
  private @Nullable String name;

  @Option(names = "--last", description = "The context that changed last, instead of CONTEXT.")
  private boolean last;

  @Option(
      names = "--revision",
      paramLabel = "N",
      description = "The version to print. Default: the latest.")
  private @Nullable Integer version;

  @Option(
      names = "--out",
      paramLabel = "FILE",
      description = "Where to save it; a folder keeps the artifact's name. Default: print it.")
  private @Nullable Path out;

  @Option(names = "--json", description = "One JSON object per line.")
  private boolean json;

  ArtifactsCommand(Terminal terminal) {
    super(terminal);
  }

  @Override
  void checkArguments() {
    if (last) {
      if (name != null) {
        throw new CommandExit(CommandExit.USAGE, "Give either CONTEXT or --last, not both.");
      }
      name = context;
      context = null;
    }
    if (name == null && (out != null || version != null)) {
      throw new CommandExit(CommandExit.USAGE, "Which artifact? Give its NAME.");
    }
  }

  @Override
  void run(ParleyClient client) throws IOException {
    var idLookup = new IdLookup(client);
    var place = context == null ? idLookup.last() : idLookup.context(context);
    var artifacts = all(client, place);
    if (name != null) {
      var one = find(artifacts, name);
      if (out == null) {
        print(terminal, client, place, one, version);
      } else {
        terminal.err().println("Saved: " + save(client, place, one, out));
      }
    } else if (json) {
      printJson(artifacts);
    } else if (artifacts.isEmpty()) {
      terminal.err().println("There are no artifacts in context " + place);
    } else {
      table(artifacts).print(terminal.out(), terminal.outStyle());
    }
  }

  static List<ArtifactView> all(ParleyClient client, ContextId context) {
    return ResultPage.collect(cursor -> client.artifacts(context, cursor, PAGE), Integer.MAX_VALUE);
  }

  static AlignedTable table(List<ArtifactView> artifacts) {
    var alignedTable = new AlignedTable("ARTIFACT", "TYPE", "VERSION", "STATUS", "SIZE", "NAME");
    for (var artifact : artifacts) {
      alignedTable.row(
          artifact.artifactId().value(),
          artifact.type().wire(),
          Integer.toString(artifact.version()),
          artifact.status().wire(),
          HumanUnits.size(artifact.size()),
          artifact.name() == null ? "" : TextSanitizer.line(artifact.name(), NAME_MAX));
    }
    return alignedTable;
  }

  /// The artifact with this id, with this name, or with an id that begins like this.
  ///
  /// @throws Rejection.NotFound if there is none
  /// @throws Exit if there are several
  static ArtifactView find(List<ArtifactView> artifacts, String typed) {
    var missing =
        new Rejection.NotFound("There is no artifact " + TextSanitizer.line(typed, NAME_MAX));
    var named = artifacts.stream().filter(artifact -> typed.equals(artifact.name())).toList();
    var exact = artifacts.stream().anyMatch(one -> one.artifactId().value().equals(typed));
    if (!named.isEmpty() && !exact) {
      // The artifact that was written last replaces earlier ones with the same name.
      return named.getLast();
    }
    if (!exact && typed.length() < IdLookup.PREFIX_MIN) {
      throw missing;
    }
    return IdLookup.findUnique(
        typed,
        "artifacts",
        artifacts,
        artifact -> artifact.artifactId().value(),
        artifact -> artifact.artifactId() + "  " + TextSanitizer.line(label(artifact), NAME_MAX),
        missing);
  }

  /// Prints an artifact. On a terminal, control characters are left out and content that is not
  /// text is rejected.
  static void print(
      Terminal terminal,
      ParleyClient client,
      ContextId context,
      ArtifactView artifact,
      @Nullable Integer version)
      throws IOException {
    try (var content = client.content(context, artifact.artifactId(), version)) {
      if (!terminal.outIsTerminal()) {
        content.transferTo(terminal.out());
      } else {
        var text = new String(content.readAllBytes(), StandardCharsets.UTF_8);
        if (text.indexOf('\0') >= 0 || text.indexOf('\uFFFD') >= 0) {
          throw new CommandExit(
              CommandExit.FAILED, label(artifact) + " is not text. Save it with: --out FILE");
        }
        terminal.out().println(TextSanitizer.text(text).stripTrailing());
      }
      terminal.out().flush();
    }
  }

  private Path save(ParleyClient client, ContextId context, ArtifactView artifact, Path target)
      throws IOException {
    var file = Files.isDirectory(target) ? target.resolve(fileName(artifact)) : target;
    var folder = file.toAbsolutePath().getParent();
    if (folder == null || !Files.isDirectory(folder)) {
      throw new CommandExit(CommandExit.USAGE, "The folder does not exist: " + file);
    }
    // An incomplete file must not look like a complete one.
    var part = Files.createTempFile(folder, ".parley-artifact", ".part");
    try {
      try (var content = client.content(context, artifact.artifactId(), version)) {
        Files.copy(content, part, StandardCopyOption.REPLACE_EXISTING);
      }
      Files.move(part, file, StandardCopyOption.REPLACE_EXISTING);
    } finally {
      Files.deleteIfExists(part);
    }
    return file;
  }

  private static String label(ArtifactView artifact) {
    return artifact.name() == null ? artifact.artifactId().value() : artifact.name();
  }

  /// The last part of the artifact's name. A model chose the name: it must not point outside the
  /// folder, nor to a file that programs read automatically, such as `.bashrc`.
  private static String fileName(ArtifactView artifact) {
    var name = TextSanitizer.line(label(artifact), NAME_MAX * 4);
    var last = name.substring(Math.max(name.lastIndexOf('/'), name.lastIndexOf('\\')) + 1);
    return last.isBlank() || last.stripLeading().startsWith(".")
        ? artifact.artifactId().value()
        : last;
  }
}
