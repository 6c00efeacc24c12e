package dev.parley.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.app.Guide.Block;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// The program of the guide on embedding works in a Maven project outside of this build.
///
/// The project, the commands and the expected output are those of the guide. The project uses the
/// artifacts that this build has just made, from a local repository of its own; all other artifacts
/// are shared with the usual local repository.
@Timeout(600)
class EmbeddingIT {

  private static final String GROUP = "dev/parley";
  private static final String VERSION = "0.1.0-SNAPSHOT";
  private static final long PATIENCE_SECONDS = 180;

  /// The artifacts of the program `parley` that are not libraries.
  private static final Set<String> PROGRAM_ONLY =
      Set.of(
          "jline-reader",
          "jline-terminal",
          "jline-terminal-ffm",
          "parley-app",
          "parley-compat-agents",
          "parley-compat-chat",
          "parley-compat-kagent",
          "parley-compat-mcp",
          "parley-compat-openai",
          "parley-compat-workflow",
          "picocli");

  @TempDir Path folder;
  private Path project;
  private Path repository;
  private final List<Block> blocks = Guide.named("embedding.md").blocks();

  @BeforeEach
  void write_the_project() throws IOException {
    project = Files.createDirectory(folder.resolve("project"));
    repository = Files.createDirectory(folder.resolve("repository"));
    share(usualRepository(), repository, Path.of(GROUP));
    install("parley", SourceFile.root().resolve("pom.xml"));
    for (var module : List.of("protocol", "client", "server", "offline")) {
      install("parley-" + module, SourceFile.root().resolve(module).resolve("pom.xml"));
    }
    Files.writeString(project.resolve("pom.xml"), block("xml", text -> text.contains("<project")));
    var program = block("java", text -> text.contains("static void main"));
    var name = program.replaceFirst("(?s).*public final class (\\w+).*", "$1");
    var sources = Files.createDirectories(project.resolve("src/main/java"));
    Files.writeString(sources.resolve(name + ".java"), program);
  }

  /// JUnit would warn about each link that points outside of its folder.
  @AfterEach
  void remove_links() throws IOException {
    try (var files = Files.walk(repository)) {
      for (var link : files.filter(Files::isSymbolicLink).toList()) {
        Files.delete(link);
      }
    }
  }

  @Test
  void the_program_of_the_guide_runs_with_the_pom_of_the_guide() throws Exception {
    var printed = run(block("bash", text -> text.contains("java ")));

    assertThat(printed.stripTrailing()).endsWith(block("", text -> text.startsWith("supervisor:")));
    // The versions must be those with which this build was tested.
    var tested = jars(Path.of("target", "parley", "lib"));
    tested.removeIf(jar -> PROGRAM_ONLY.contains(jar.replaceFirst("-\\d.*", "")));
    assertThat(jars(project.resolve("target/dependency"))).containsExactlyElementsOf(tested);
  }

  private String block(String language, Predicate<String> fits) {
    return blocks.stream()
        .filter(block -> block.language().equals(language) && fits.test(block.text()))
        .map(Block::text)
        .findFirst()
        .orElseThrow();
  }

  /// The output of the commands. They use the `mvn` on the PATH and the JDK that runs this test.
  private String run(String commands) throws IOException, InterruptedException {
    var shell = new ProcessBuilder("bash", "-e", "-c", commands.replaceAll("(?m)^mvn ", "mvn -q "));
    var java = System.getProperty("java.home");
    var environment = shell.environment();
    environment.keySet().removeIf(name -> name.matches("(?:PARLEY|ANTHROPIC|OPENAI|MAVEN)_.*"));
    environment.put("JAVA_HOME", java);
    environment.put("PATH", java + "/bin:" + environment.get("PATH"));
    environment.put("MAVEN_OPTS", "-Dmaven.repo.local=" + repository);
    var printed = folder.resolve("printed.txt");
    var errors = folder.resolve("errors.txt");
    var process =
        shell
            .directory(project.toFile())
            .redirectOutput(printed.toFile())
            .redirectError(errors.toFile())
            .start();
    process.getOutputStream().close();
    var ended = process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS);
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly().waitFor();
    var all = Files.readString(printed) + Files.readString(errors);
    assertThat(ended).as(all).isTrue();
    assertThat(process.exitValue()).as(all).isZero();
    assertThat(Files.readString(errors)).doesNotContain("SEVERE", "Exception");
    return Files.readString(printed);
  }

  /// Installs an artifact as `mvn install` does.
  private void install(String artifact, Path pom) throws IOException {
    var place = repository.resolve(GROUP).resolve(artifact).resolve(VERSION);
    Files.createDirectories(place);
    Files.copy(pom, place.resolve(artifact + "-" + VERSION + ".pom"));
    var jar = Path.of("target", "parley", "lib", artifact + "-" + VERSION + ".jar");
    if (Files.exists(jar)) {
      Files.copy(jar, place.resolve(jar.getFileName()));
    }
  }

  /// Links everything in `from` but `except` into `to`, and creates missing folders.
  private static void share(Path from, Path to, Path except) throws IOException {
    Files.createDirectories(to);
    if (!Files.isDirectory(from)) {
      return;
    }
    var first = except.getName(0);
    try (var entries = Files.list(from)) {
      for (var entry : entries.toList()) {
        if (!entry.getFileName().equals(first)) {
          Files.createSymbolicLink(to.resolve(entry.getFileName()), entry);
        }
      }
    }
    if (except.getNameCount() > 1) {
      var rest = except.subpath(1, except.getNameCount());
      share(from.resolve(first), to.resolve(first), rest);
    }
  }

  /// The local repository of the build that runs this test.
  private static Path usualRepository() {
    var told = System.getProperty("localRepository");
    return told == null
        ? Path.of(System.getProperty("user.home"), ".m2", "repository")
        : Path.of(told);
  }

  private static List<String> jars(Path folder) throws IOException {
    try (var files = Files.list(folder)) {
      return new ArrayList<>(files.map(file -> file.getFileName().toString()).sorted().toList());
    }
  }
}
