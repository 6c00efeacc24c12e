package dev.parley.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.http.Metric;
import dev.parley.server.Config;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// The guides are complete, their code compiles, and their links have targets.
class GuidesTest {

  private static final Pattern LINK = Pattern.compile("]\\(([^)#]*)#?([^)]*)\\)");
  private static final Pattern CODE =
      Pattern.compile(
          "new Rejection\\.\\w+\\(\\s*\"([a-z0-9-]+)\",|Problem\\.of\\(\\s*\\w+,\\s*\"([a-z-]+)\"");
  private static final Pattern PROGRAM = Pattern.compile("(?m)^public final class (\\w+)");
  private static final int PATIENCE_SECONDS = 60;
  private static final Pattern SETTING = Pattern.compile("@Nullable [\\w<>, ]+ (\\w+)[,)]");

  /// Codes that are never sent over HTTP: they stop a server, go to a model, or belong to a client.
  private static final Set<String> NOT_SENT =
      Set.of(
          "data-folder-in-use",
          "database-in-use",
          "database-not-empty",
          "invalid-configuration",
          "invalid-database",
          "limit",
          "stuck",
          "unsafe-address",
          "vault-key-missing",
          "unknown-kind");

  private static final String CLASS =
      """
      import dev.parley.client.*;
      import dev.parley.protocol.*;
      import dev.parley.protocol.ContentEvent.*;
      import dev.parley.protocol.TaskEvent.*;
      import dev.parley.protocol.ToolEvent.*;
      import dev.parley.tool.*;
      import java.net.URI;
      import java.time.Duration;
      import java.util.Set;

      abstract class Snippet {
        ParleyClient parley;
        ContextId context;
        AcceptedMessage accepted;

        void run() throws InterruptedException {
      STATEMENTS
        }
      }
      """;

  @TempDir Path folder;

  static Stream<Guide> guides() {
    return Guide.all().stream();
  }

  @ParameterizedTest
  @MethodSource("guides")
  void its_java_compiles(Guide guide) {
    for (var block : guide.blocks("java")) {
      assertThat(compile(block.text())).as("line %d", block.line()).isEmpty();
    }
  }

  @Test
  void a_whole_program_prints_what_the_guide_says() throws IOException, InterruptedException {
    var blocks = Guide.named("embedding.md").blocks();
    var program =
        blocks.stream().filter(block -> isProgram(block.text())).findFirst().orElseThrow();
    var output =
        blocks.stream()
            .skip(blocks.indexOf(program))
            .filter(block -> block.language().isEmpty())
            .findFirst()
            .orElseThrow()
            .text();

    assertThat(output(program.text())).isEqualToIgnoringWhitespace(output);
  }

  private static boolean isProgram(String text) {
    return PROGRAM.matcher(text).find();
  }

  /// The output of a program of one file.
  private String output(String program) throws IOException, InterruptedException {
    var source = Files.writeString(folder.resolve(fileName(program)), program);
    var printed = folder.resolve("printed.txt");
    var command =
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "--enable-native-access=ALL-UNNAMED",
            "-cp",
            classPath(),
            source.toString());
    var builder = new ProcessBuilder(command).directory(folder.toFile());
    builder.environment().keySet().removeIf(name -> name.matches("(?:ANTHROPIC|OPENAI)_.*"));
    var process =
        builder
            .redirectOutput(printed.toFile())
            .redirectError(folder.resolve("errors.txt").toFile())
            .start();
    var ended = process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS);
    process.destroyForcibly().waitFor();
    assertThat(ended).as(Files.readString(folder.resolve("errors.txt"))).isTrue();
    assertThat(process.exitValue()).as(Files.readString(folder.resolve("errors.txt"))).isZero();
    return Files.readString(printed);
  }

  private static String fileName(String program) {
    var name = PROGRAM.matcher(program);
    return (name.find() ? name.group(1) : "Snippet") + ".java";
  }

  @Test
  void code_that_does_not_compile_would_be_noticed() {
    assertThat(compile("parley.shout();")).isNotEmpty();
  }

  @ParameterizedTest
  @MethodSource("guides")
  void its_links_lead_somewhere(Guide guide) throws IOException {
    for (var link : LINK.matcher(guide.text()).results().toList()) {
      if (link.group(1).contains("://")) {
        continue;
      }
      var target = guide.path().resolveSibling(link.group(1)).normalize();
      var file = link.group(1).isEmpty() ? guide.path() : target;
      assertThat(file).exists();
      if (!link.group(2).isEmpty()) {
        var linked = new Guide(file, Files.readAllLines(file));
        assertThat(linked.anchors()).contains(link.group(2));
      }
    }
  }

  @ParameterizedTest
  @MethodSource("guides")
  void its_configurations_are_accepted(Guide guide) throws IOException {
    var keys =
        Map.of(
            "ANTHROPIC_API_KEY",
            "key",
            "OPENAI_API_KEY",
            "key",
            "TICKETS_SECRET",
            "key",
            "PARLEY_OIDC_SECRET",
            "key");
    // One of the configurations has this folder as a workspace.
    Files.createDirectories(folder.resolve("shared"));
    for (var block : guide.blocks("yaml")) {
      var file = Files.writeString(folder.resolve("parley.yaml"), block.text());

      assertThat(
              Config.load(
                  file, new Config.ProcessEnvironment(keys, folder, folder), ProgramModules.ALL))
          .isNotNull();
    }
  }

  @Test
  void every_setting_is_in_the_guide() {
    var guide = Guide.named("configuration.md").text();
    var settings = SETTING.matcher(source("ConfigFile.java")).results().map(r -> r.group(1));

    assertThat(settings).isNotEmpty().allMatch(name -> guide.matches("(?s).*\\b" + name + "\\b.*"));
  }

  @Test
  void every_metric_is_in_the_guide_with_its_help_text() {
    var guide = Guide.named("operations.md").text();
    for (var metric : Metric.values()) {
      assertThat(guide).contains("| `" + metric.title() + "` |", metric.help());
    }
  }

  @Test
  void every_command_and_option_is_in_the_guide() {
    var guide = Guide.named("command-line.md").text();
    for (var command :
        CommandLineProgram.commandLine(Terminal.system()).getSubcommands().values()) {
      var spec = command.getCommandSpec();
      if (!spec.usageMessage().hidden()) {
        assertThat(guide).containsPattern("(?m)^## .*`" + spec.name() + "`");
        spec.options().forEach(option -> assertThat(guide).contains(option.longestName()));
      }
    }
  }

  @Test
  void every_problem_is_in_the_guide_and_no_other_is() {
    var sources =
        SourceFile.all().stream()
            .filter(
                file ->
                    file.main() && !Set.of("client", "app", "benchmarks").contains(file.module()))
            .map(file -> String.join("\n", file.lines()))
            .collect(Collectors.joining("\n"));
    var thrown =
        CODE.matcher(sources)
            .results()
            .map(GuidesTest::group)
            .filter(code -> !NOT_SENT.contains(code))
            .collect(Collectors.toCollection(TreeSet::new));
    var told = toldCodes();

    assertThat(told).containsAll(thrown);
    assertThat(told).allMatch(code -> sources.contains("\"" + code + "\""));
  }

  private static Set<String> toldCodes() {
    return Guide.named("native-api.md").lines().stream()
        .filter(line -> line.matches("\\| \\d{3} \\| `.*"))
        .map(line -> line.split("\\|", -1)[2])
        .flatMap(cell -> Stream.of(cell.replaceAll("[` ]", "").split(",", -1)))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static String group(MatchResult result) {
    return result.group(1) == null ? result.group(2) : result.group(1);
  }

  private static String source(String fileName) {
    return SourceFile.all().stream()
        .filter(file -> file.fileName().equals(fileName))
        .map(file -> String.join(" ", file.lines()))
        .findFirst()
        .orElseThrow();
  }

  /// The compiler's errors for these statements or this program.
  private List<String> compile(String code) {
    var compiler = ToolProvider.getSystemJavaCompiler();
    var found = new DiagnosticCollector<JavaFileObject>();
    var options = List.of("-d", folder.toString(), "-proc:none", "-cp", classPath());
    var whole = isProgram(code) ? code : CLASS.replace("STATEMENTS", code);
    var source = new Source(fileName(code), whole);
    compiler.getTask(null, null, found, options, null, List.of(source)).call();
    return found.getDiagnostics().stream().map(each -> each.getMessage(Locale.ROOT)).toList();
  }

  private static String classPath() {
    return System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
  }

  /// A source file that is only in memory.
  private static final class Source extends SimpleJavaFileObject {
    private final String text;

    Source(String fileName, String text) {
      super(URI.create("string:///" + fileName), Kind.SOURCE);
      this.text = text;
    }

    @Override
    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
      return text;
    }
  }
}
