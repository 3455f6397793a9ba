import { channel } from "node:diagnostics_channel";

/** Where a call is, for whoever wants to know how long each step takes. While nobody listens, nothing is told. */
export const callMoments = {
  sent: channel("setpoint.rpc.call.sent"),
  received: channel("setpoint.rpc.call.received"),
  answered: channel("setpoint.rpc.call.answered"),
  answerReceived: channel("setpoint.rpc.answer.received"),
};
