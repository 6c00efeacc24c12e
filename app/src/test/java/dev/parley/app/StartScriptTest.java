package dev.parley.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The options that `./parley` passes to the JVM, without a build and without a JVM.
class StartScriptTest {

  @TempDir Path folder;

  @BeforeEach
  void copyScript() throws IOException {
    var program = folder.resolve("parley");
    Files.copy(Path.of("../parley"), program);
    assertThat(program.toFile().setExecutable(true)).isTrue();
    Files.createDirectory(folder.resolve("bin"));
    replaceBuild("JAVA=echo");
  }

  /// Lets the script find a build with these variables.
  private void replaceBuild(String variables) throws IOException {
    Files.writeString(
        folder.resolve("bin/common.sh"),
        """
        say() { printf '%%s\n' "$*"; }
        ensure_built() { JARS=jars RUN='%s' %s; }
        """
            .formatted(folder, variables));
  }

  /// Replaces the JVM by a program that prints its arguments, but ends with `exit` if it warms up.
  private void replaceJvm(int exit) throws IOException {
    var java = folder.resolve("java");
    Files.writeString(
        java,
        """
        #!/usr/bin/env bash
        case "$*" in *" warm-up") exit %d ;; esac
        echo "$@"
        """
            .formatted(exit));
    assertThat(java.toFile().setExecutable(true)).isTrue();
    replaceBuild("AFTER_BUILD=yes JAVA='" + java + "'");
  }

  private record Ended(int exit, String printed) {}

  private Ended run(String javaOptions) throws IOException, InterruptedException {
    var builder = new ProcessBuilder(folder.resolve("parley").toString(), "--version");
    builder.environment().put("PARLEY_JAVA_OPTS", javaOptions);
    var process = builder.redirectErrorStream(true).start();
    var printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return new Ended(process.waitFor(), printed);
  }

  private List<String> options(String javaOptions) throws IOException, InterruptedException {
    var ended = run(javaOptions);
    assertThat(ended.exit()).as(ended.printed()).isZero();
    return List.of(ended.printed().strip().split(" "));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "-Xmx2g",
        "-XX:+UseSerialGC",
        "-XX:+UseG1GC",
        "-Xmx1g\t-XX:+UseZGC\t-Xss1m",
        "-Xmx1g\n-XX:+UseParallelGC\n-Xss1m\n"
      })
  void an_operator_adds_options_and_selects_the_collector(String javaOptions) throws Exception {
    var selected = List.of(javaOptions.split("\\s+"));

    assertThat(options(javaOptions)).containsAll(selected).endsWith("--version");
    assertThat(options(javaOptions))
        .filteredOn(option -> option.matches("-XX:[+]Use[A-Za-z0-9]+GC"))
        .isSubsetOf(selected);
  }

  @Test
  void a_warm_up_that_fails_does_not_prevent_the_start() throws Exception {
    replaceJvm(1);

    assertThat(run("").printed()).contains("warming up").endsWith("--version\n");
  }

  @ParameterizedTest
  @ValueSource(ints = {130, 143})
  void a_signal_during_the_warm_up_ends_the_program(int exit) throws Exception {
    replaceJvm(exit);

    var ended = run("");

    assertThat(ended.exit()).isEqualTo(exit);
    assertThat(ended.printed()).contains("warming up").doesNotContain("--version");
  }
}
