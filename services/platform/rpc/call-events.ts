import { channel } from "node:diagnostics_channel";

/**
 * Diagnostics channels for the steps of a call, to measure how long each takes. Without subscribers, nothing is
 * published.
 */
export const callEvents = {
  sent: channel("setpoint.rpc.call.sent"),
  received: channel("setpoint.rpc.call.received"),
  answered: channel("setpoint.rpc.call.answered"),
  answerReceived: channel("setpoint.rpc.answer.received"),
};
