-- What the administrator of a real MySQL does once. The passwords are for throw-away databases only.
CREATE DATABASE setpoint_preset CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
CREATE DATABASE setpoint_organization CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
CREATE USER preset@'%' IDENTIFIED BY 'setpoint-dev';
CREATE USER organization@'%' IDENTIFIED BY 'setpoint-dev';
GRANT ALL ON setpoint_preset.* TO preset@'%';
GRANT ALL ON setpoint_organization.* TO organization@'%';
