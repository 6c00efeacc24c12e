package dev.parley.external.cli;

import static dev.parley.external.cli.CliFixtures.all;
import static dev.parley.external.cli.CliFixtures.read;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Tests the questions that Codex asks, and the requests that are declined without a question.
class CodexApprovalsTest {

  private static final String THREAD = "{\"id\":2,\"result\":{\"thread\":{\"id\":\"t\"}}}";
  private static final String CHANGES =
      "[{\"path\":\"a.txt\",\"kind\":{\"type\":\"add\"},\"diff\":\"%s\"}]";

  private static String item(String what, String thread, String changes) {
    return "{\"method\":\"item/%s\",\"params\":{\"threadId\":\"%s\",\"item\":"
            .formatted(what, thread)
        + "{\"type\":\"fileChange\",\"id\":\"f1\",\"status\":\"inProgress\",\"changes\":"
        + changes
        + "}}}";
  }

  private static String asks(String what, String thread, String more) {
    return "{\"method\":\"item/%s/requestApproval\",\"id\":5,\"params\":".formatted(what)
        + "{\"threadId\":\"%s\",\"itemId\":\"f1\",\"reason\":\"trust me\"%s}}"
            .formatted(thread, more);
  }

  private static List<ProgramEvent> said(String... lines) {
    var all = new ArrayList<>(List.of(THREAD));
    all.addAll(List.of(lines));
    return read(new CodexServerParser("gpt", null, "hello"), all);
  }

  private static void isDeclined(List<ProgramEvent> said) {
    assertThat(all(said, ProgramEvent.PermissionAsked.class)).isEmpty();
    assertThat(all(said, ProgramEvent.UnsupportedRequest.class))
        .singleElement()
        .matches(no -> no.refusal().contains("\"id\":5") && no.refusal().contains("decline"));
    assertThat(all(said, ProgramEvent.ErrorMessage.class))
        .singleElement()
        .matches(why -> why.message().endsWith("the request was declined"));
  }

  @Test
  void all_that_a_command_would_be_given_is_shown() {
    var more =
        ",\"command\":\"curl x\",\"cwd\":\"/etc\",\"commandActions\":[{\"type\":\"unknown\"}],"
            + "\"networkApprovalContext\":{\"host\":\"x\",\"protocol\":\"https\"},"
            + "\"additionalPermissions\":{\"fileSystem\":{\"write\":[\"/\"]}}";

    assertThat(all(said(asks("commandExecution", "t", more)), ProgramEvent.PermissionAsked.class))
        .singleElement()
        .satisfies(
            permissionAsked ->
                assertThat(permissionAsked.arguments().propertyNames())
                    .containsExactlyInAnyOrder(
                        "command",
                        "cwd",
                        "commandActions",
                        "networkApprovalContext",
                        "additionalPermissions",
                        "reason"));
  }

  @Test
  void access_to_the_network_may_be_asked_for_without_a_command() {
    var more = ",\"command\":null,\"networkApprovalContext\":{\"host\":\"x\"}";

    assertThat(all(said(asks("commandExecution", "t", more)), ProgramEvent.PermissionAsked.class))
        .singleElement()
        .matches(
            permissionAsked ->
                permissionAsked.arguments().path("networkApprovalContext").has("host"));
  }

  @Test
  void a_command_that_is_not_named_is_declined() {
    isDeclined(said(asks("commandExecution", "t", ",\"cwd\":\"/etc\"")));
  }

  @ParameterizedTest
  @ValueSource(strings = {"t", "of-a-sub-agent"})
  void the_latest_of_a_change_is_shown_whoever_makes_it(String thread) {
    var updated =
        "{\"method\":\"item/fileChange/patchUpdated\",\"params\":{\"threadId\":\"%s\",\"itemId\":\"f1\","
                .formatted(thread)
            + "\"changes\":"
            + CHANGES.formatted("second")
            + "}}";
    var first = item("started", thread, CHANGES.formatted("first"));

    assertThat(all(said(first, asks("fileChange", thread, "")), ProgramEvent.PermissionAsked.class))
        .singleElement()
        .matches(permissionAsked -> permissionAsked.arguments().toString().contains("first"));
    assertThat(
            all(
                said(first, updated, asks("fileChange", thread, "")),
                ProgramEvent.PermissionAsked.class))
        .singleElement()
        .matches(permissionAsked -> permissionAsked.arguments().toString().contains("second"));
  }

  @Test
  void a_change_that_is_not_known_is_declined() {
    isDeclined(said(asks("fileChange", "t", "")));
    isDeclined(said(item("started", "t", "[]"), asks("fileChange", "t", "")));
    isDeclined(
        said(item("started", "another", CHANGES.formatted("x")), asks("fileChange", "t", "")));
  }

  @Test
  void a_change_that_is_done_is_not_taken_for_the_next() {
    var changes = CHANGES.formatted("x");

    isDeclined(
        said(
            item("started", "t", changes),
            item("completed", "t", changes),
            asks("fileChange", "t", "")));
  }
}
