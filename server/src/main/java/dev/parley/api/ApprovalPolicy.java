package dev.parley.api;

import dev.parley.http.Request;
import dev.parley.identity.Caller;
import dev.parley.identity.CallerKind;
import dev.parley.identity.Scope;
import dev.parley.protocol.Rejection;
import dev.parley.task.Answerer;
import dev.parley.tool.process.ClientProcessCheck;
import java.lang.System.Logger.Level;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Decides which callers may answer the questions of tasks. Every API uses this class for every
/// request that answers a question.
///
/// People decide. A process that the server started (a command, an MCP server, a command-line
/// agent) and all of its descendants may not: they get no [Answerer] at all. Another agent that
/// calls over A2A may answer questions, and may approve only if the configuration names it.
public final class ApprovalPolicy {

  private static final System.Logger LOG = System.getLogger(ApprovalPolicy.class.getName());

  /// The code of the rejection for a process that the server started.
  public static final String FROM_CHILD = "approval-from-child";

  /// The code of the rejection for a local process that may be such a process.
  public static final String UNVERIFIED = "approval-unverified";

  private final ApprovalSettings settings;
  private final ClientProcessCheck processes;

  public ApprovalPolicy(ApprovalSettings settings, ClientProcessCheck processes) {
    this.settings = settings;
    this.processes = processes;
  }

  /// The answerer for a person, or for the front end that the person uses.
  ///
  /// @throws Rejection.Forbidden if the request comes from a process that the server started
  public Answerer person(Request request) {
    checkProcess(request, request.caller().kind() != CallerKind.LOCAL);
    return new Answerer(request.principal(), whyNot(request.caller()));
  }

  /// Rejects a request that comes from a process that the server started. For operations that only
  /// people do, such as to create credentials.
  ///
  /// @throws Rejection.Forbidden if it does
  public void checkPerson(Request request) {
    checkProcess(request, request.caller().kind() != CallerKind.LOCAL);
  }

  /// The answerer for another agent, or for the person behind it.
  ///
  /// @throws Rejection.Forbidden if the request comes from a process that the server started
  public Answerer agent(Request request) {
    checkProcess(request, request.caller().kind() != CallerKind.LOCAL);
    var principal = request.principal();
    var why = whyNot(request.caller());
    return new Answerer(
        principal,
        why != null || settings.a2aCallers().contains(principal)
            ? why
            : "A2A callers cannot approve tool calls here: a person approves them on the page, with"
                + " ./parley, or through /api/inbox. approvals.a2aCallers in the configuration can"
                + " allow it to "
                + principal);
  }

  /// The answerer for a browser that an authorization server has redirected here. It sends no
  /// token, but a secret of this one sign-in.
  ///
  /// @throws Rejection.Forbidden if the request comes from a process that the server started
  public Answerer browser(Request request) {
    checkProcess(request, false);
    return Answerer.trusted(request.principal());
  }

  private @Nullable String whyNot(Caller caller) {
    var principal = caller.principal();
    if (!caller.has(Scope.APPROVE)) {
      return "this credential cannot approve: the scope approve is missing";
    }
    if (settings.noApprovals().contains(principal)) {
      return "the token " + principal + " cannot approve: it has approve: false";
    }
    return settings.strict() && caller.kind() == CallerKind.LOCAL
        ? "approvals need a token: approvals.mode is strict"
        : null;
  }

  private void checkProcess(Request request, boolean token) {
    switch (processes.source(request.peer())) {
      case OTHER -> {}
      case CHILD -> throw fromChild(request);
      case THIS_PROCESS -> {
        if (!settings.ownProcess()) {
          throw fromChild(request);
        }
      }
      case UNKNOWN -> {
        // A token is a secret that children do not have.
        if (settings.strict() || !token) {
          LOG.log(
              Level.WARNING,
              "rejected an answer from {0}: unknown process",
              request.peer().remote());
          throw new Rejection.Forbidden(
              UNVERIFIED,
              "this request comes from this machine, but its process is unknown; keep"
                  + " the connection open until the reply arrives, or configure auth.tokens");
        }
      }
      // The process cannot be determined on this system. In strict mode the token protects.
      case UNSUPPORTED -> {}
    }
  }

  private static Rejection fromChild(Request request) {
    LOG.log(
        Level.WARNING,
        "rejected an answer from {0}: a process that an agent started sent it ({1})",
        request.peer().remote(),
        request.path());
    return new Rejection.Forbidden(
        FROM_CHILD,
        "this request comes from a process that an agent started; only people can approve tool"
            + " calls, answer questions and sign in");
  }

  /// Settings that decide who may approve tool calls, answer questions and sign in.
  ///
  /// @param strict approvals need a token, and a caller that is known not to be a child process of
  /// the server
  /// @param a2aCallers principals that may approve over A2A; others may only answer questions there
  /// @param noApprovals principals that may never approve
  /// @param ownProcess requests from the server's own process count as requests of a person; for
  /// programs that embed the server
  public record ApprovalSettings(
      boolean strict, Set<String> a2aCallers, Set<String> noApprovals, boolean ownProcess) {

    /// The defaults.
    public static final ApprovalSettings DEFAULTS =
        new ApprovalSettings(false, Set.of(), Set.of(), true);

    public ApprovalSettings {
      a2aCallers = Set.copyOf(a2aCallers);
      noApprovals = Set.copyOf(noApprovals);
    }

    /// The same settings for a standalone server, where requests from its own process are not a
    /// person's.
    public ApprovalSettings standalone() {
      return new ApprovalSettings(strict, a2aCallers, noApprovals, false);
    }
  }
}
